package api

import (
	"strings"

	"github.com/addrspec/addrspec/wasm/host"
)

// A caller asks for the evidence behind a result with ?details=true, or with the
// member "details": true of a batch. Both select the module's flag.

// queryDetails returns the flag that the query asks for. Names and values are
// compared as they were sent, without percent-decoding, so that origin and worker
// cannot decode them differently. Other parameters are ignored.
func queryDetails(query string) (flag host.Flags, p *problem) {
	given := 0
	for parameter := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(parameter, "=")
		if name != "details" {
			continue
		}
		if given++; given > 1 || value != "true" && value != "false" {
			return 0, invalidRequest.with(textWrongDetails)
		}
		if value == "true" {
			flag = host.Details
		}
	}
	return flag, nil
}

// memberDetails returns the flag that a batch asks for. Without the member, and
// with null, it asks for none.
func memberDetails(text []byte) (flag host.Flags, p *problem) {
	switch string(text) {
	case "", "null", "false":
		return 0, nil
	case "true":
		return host.Details, nil
	}
	return 0, wrongType("details", "true or false")
}
