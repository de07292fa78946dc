package api

import (
	"net/http"
	"strings"
)

// onlyValue is the value of a field that may have only one, "" without the field;
// ok is false where the field is repeated or has a list, which the two ends of
// a connection could read differently. A recipient may join repeated fields
// with commas (RFC 9110 section 5.3), so both count alike.
func singleValue(h http.Header, name string) (value string, ok bool) {
	switch values := h.Values(name); len(values) {
	case 0:
		return "", true
	case 1:
		return values[0], !strings.Contains(values[0], ",")
	}
	return "", false
}

// repeated is the problem of such a field.
func repeatedHeader(name string) *problem {
	return invalidRequest.with("The header " + name + " has more than one value; send it once.")
}
