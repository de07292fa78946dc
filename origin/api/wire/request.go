package wire

import (
	"encoding/base32"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// ReadKey returns the API key of X-API-Key or, if that is empty, of Authorization: Bearer. It returns
// a problem for a key that is missing or malformed, without a lookup.
func ReadKey(h http.Header) (key string, p *Problem) {
	name := "X-API-Key"
	given, one := SingleValue(h, "X-Api-Key")
	if given == "" && one {
		name = "Authorization"
		given, one = SingleValue(h, name)
		scheme, credential, _ := strings.Cut(strings.TrimSpace(given), " ")
		given = ""
		if strings.EqualFold(scheme, "Bearer") { // in any case (RFC 9110 section 11.1)
			given = credential
		}
	}
	key = strings.TrimSpace(given)
	switch {
	case !one:
		return "", InvalidKey.With(TextManyKeys(name))
	case key == "":
		return "", InvalidKey.With(TextNoKey)
	case !book.WellFormed(key):
		return "", InvalidKey.With(TextMalformedKey)
	}
	return key, nil
}

// SingleValue returns the value of a field that may have only one, "" if it is absent. The name is in
// canonical form. one is false if the field is repeated or has a list, which two recipients could read
// differently: a recipient may join repeated fields with commas (RFC 9110 section 5.3).
func SingleValue(h http.Header, name string) (value string, one bool) {
	switch values := h[name]; len(values) {
	case 0:
		return "", true
	case 1:
		return values[0], !strings.Contains(values[0], ",")
	}
	return "", false
}

// Repeated returns the problem of a field with more than one value.
func Repeated(name string) *Problem {
	return InvalidRequest.With("The header " + name + " has more than one value; send it once.")
}

// PageOrigin returns the header Origin. A repeated one is joined, so it equals no origin.
func PageOrigin(h http.Header) string { return strings.Join(h["Origin"], ",") }

// HeaderRequestID has the id of a request, in the request and in its response.
const HeaderRequestID = "X-Request-Id"

// maxRequestID is the length in bytes of the longest caller's id that is used.
const maxRequestID = 128

// RequestID returns the caller's id if it is safe in a header and a log line, and a new id otherwise.
func RequestID(h http.Header) string {
	given := strings.Join(h[HeaderRequestID], ",")
	unsafe := func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("-_.:", c)
	}
	if given == "" || len(given) > maxRequestID || strings.ContainsFunc(given, unsafe) {
		return NewRequestID()
	}
	return given
}

var unpadded = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewRequestID returns 128 random bits. They are no secret, so they do not come from the system as
// those of crypto/rand do.
func NewRequestID() string {
	var bits [16]byte
	binary.LittleEndian.PutUint64(bits[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(bits[8:], rand.Uint64())
	return unpadded.EncodeToString(bits[:])
}

// Options are what a caller opts in for: in the query of a single validation, or as members of a batch.
type Options struct {
	Details bool   // the evidence behind each result
	Policy  string // the name of the policy that gives verdicts; "" for the key's default
}

// ReadOptions reads the options of a query. Names and values are compared as they were sent, without
// percent-decoding, so that origin and worker cannot decode them differently.
func ReadOptions(query string) (o Options, p *Problem) {
	given := map[string][]string{}
	for query != "" {
		var parameter string
		parameter, query, _ = strings.Cut(query, "&")
		if name, value, _ := strings.Cut(parameter, "="); name == "details" || name == "policy" {
			given[name] = append(given[name], value)
		}
	}
	switch details := given["details"]; {
	case len(details) > 1, len(details) == 1 && details[0] != "true" && details[0] != "false":
		return o, InvalidRequest.With(TextWrongDetails)
	case len(details) == 1:
		o.Details = details[0] == "true"
	}
	switch policy := given["policy"]; {
	case len(policy) > 1, len(policy) == 1 && book.CheckPolicyName(policy[0]) != nil:
		return o, InvalidRequest.With("The query parameter policy must be the name of one of the account's policies, " +
			"given once: 1 to 64 of a-z, 0-9, - and _.")
	case len(policy) == 1:
		o.Policy = policy[0]
	}
	return o, nil
}
