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
	given, one := singleValue(h, name)
	if given == "" && one {
		name = "Authorization"
		given, one = singleValue(h, name)
		given = bearer(given)
	}
	key = strings.TrimSpace(given)
	switch {
	case !one:
		return "", invalidKey.with(textManyKeys(name))
	case key == "":
		return "", invalidKey.with(textNoKey)
	case !ledger.WellFormed(key):
		return "", invalidKey.with(textMalformedKey)
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
