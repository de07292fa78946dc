package api

import (
	"net/http"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger"
)

// readKey returns the API key of X-API-Key or, if that is empty, of
// Authorization: Bearer. It returns a problem for a key that is missing or
// malformed, without a look-up.
func readKey(h http.Header) (key string, p *problem) {
	name := "X-API-Key"
	given, one := singleValue(h, "X-Api-Key")
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

// bearer returns the credential of the Bearer scheme, "" for another scheme. Case
// is ignored (RFC 9110 section 11.1).
func bearer(authorization string) string {
	scheme, credential, _ := strings.Cut(strings.TrimSpace(authorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return credential
}
