package api

import (
	"net/http"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger"
)

// readKey returns the API key of X-API-Key, which wins, or of a Bearer
// Authorization. A key that is missing or mistyped is refused here, without a
// look-up.
func readKey(h http.Header) (key string, p *problem) {
	name := "X-API-Key"
	given, one := onlyValue(h, name)
	if given == "" && one {
		name = "Authorization"
		given, one = onlyValue(h, name)
		given = bearer(given)
	}
	key = strings.TrimSpace(given)
	switch {
	case !one:
		return "", invalidKey.with("The header " + name + " has more than one value; send one API key.")
	case key == "":
		return "", invalidKey.with("No API key was sent; send it as X-API-Key: <key> or Authorization: Bearer <key>.")
	case !ledger.WellFormed(key):
		return "", invalidKey.with("This is not an API key. A key is ask_ and 38 letters and digits, of which the last six are a checksum; check that it was not cut off or mistyped.")
	}
	return key, nil
}

// bearer is the credential of a Bearer scheme, in any case (RFC 9110 section
// 11.1); empty for another scheme.
func bearer(authorization string) string {
	scheme, credential, _ := strings.Cut(strings.TrimSpace(authorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return credential
}
