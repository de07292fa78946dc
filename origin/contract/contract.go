// Package contract contains the contract of the two operations as data: requests
// and the responses that the specification requires, in cases.json. The same suite
// runs against the origin and against an edge worker in front of it, so both
// respond alike.
//
// Each case has its own account, so its cost is exact. The DNS data is Zone, which
// a test serves over real sockets.
package contract

import (
	_ "embed"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

// Zone is the DNS data of the cases.
const Zone = `
	example.         300 IN SOA ns.example. hostmaster.example. 1 2 3 4 60
	mail.example.    300 IN MX  10 mx1.mail.example.
	xn--bcher-kva.example. 300 IN MX 10 mx1.mail.example.
	none.example.    300 IN A   192.0.2.1
	null.example.    300 IN MX  0 .
	servfail.example. 300 IN MX 10 mx1.mail.example.
	silent.example.  300 IN MX  10 mx1.mail.example.
	*.bulk.example.  300 IN MX  10 mx1.mail.example.
`

// Serve serves Zone, with faults for two names, until the test ends. It returns the
// address for --dns.
func Serve(t testing.TB) string {
	server := mxtest.New(t, Zone)
	server.Respond("servfail.example", mxtest.ServFail)
	server.Respond("silent.example", mxtest.Silent)
	return server.Addr
}

//go:embed cases.json
var raw []byte

// A Case is a sequence of requests on one account.
type Case struct {
	Name    string
	Account Terms
	Revoked bool     // the key was revoked before the first step
	Origins []string // browser origins that the key is bound to
	Steps   []Step
	Used    int64 // points that the account has used at the end
}

// Terms are the limits of the case's account. A nil limit means unlimited.
type Terms struct {
	Rate, Points *ledger.Limit
	Overage      *bool // whether points beyond the limit may be used
}

// A Step is a request and the response that it must get.
type Step struct {
	Request Request
	Answer  Answer
}

// A Request is sent byte for byte. {key} in a header is replaced by the account's
// key. Unless Headers has a key, the header X-API-Key: {key} is added. A line feed
// in a value separates the values of a repeated header.
type Request struct {
	Method  string // GET if empty
	Target  string
	Headers map[string]string
	Body    string
	Fill    string // replaces {fill} in Body and Target, repeated Times times
	Times   int
}

// An Answer is the response required. A header value that begins with ~ is a
// regular expression, and an empty one means that the header must be absent. In
// Body, the string "*" matches any value, a string that begins with ~ is a regular
// expression, and the order of members counts.
type Answer struct {
	Status  int
	Headers map[string]string
	Body    json.RawMessage
}

// Cases returns the suite. An unknown field in it fails the test.
func Cases(t testing.TB) []Case {
	t.Helper()
	var cases []Case
	require.NoError(t, decodeStrict(raw, &cases), "cases.json")
	return cases
}
