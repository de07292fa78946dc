// Package contract is the contract of the two operations as data: requests and
// the answers that the specification requires, in cases.json. The same suite
// runs against the origin and against an edge worker in front of it, so that
// both answer alike.
//
// Each case has an account of its own, so its cost is exact. The DNS data comes
// from Zone, which a test serves over real sockets.
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

// Serve serves Zone with its faults until the test ends; the result is the
// address for --dns.
func Serve(t testing.TB) string {
	server := mxtest.New(t, Zone)
	server.Respond("servfail.example", mxtest.ServFail)
	server.Respond("silent.example", mxtest.Silent)
	return server.Addr
}

//go:embed cases.json
var raw []byte

// Case is a sequence of requests on one account.
type Case struct {
	Name    string
	Account Terms
	Revoked bool // the key was revoked before the first step
	Steps   []Step
	Used    int64 // points the account has used in the end
}

// Terms are what the case's account may use; unlimited unless given.
type Terms struct {
	Rate, Points *ledger.Limit
	Overage      *bool // whether points beyond the limit may be used
}

// Step is a request and the answer it gets.
type Step struct {
	Request Request
	Answer  Answer
}

// Request is sent as it is. A {key} in a header becomes the account's key;
// without a key header of its own the request sends X-API-Key: {key}. A line
// feed in a header's value repeats the header.
type Request struct {
	Method  string // GET unless given
	Target  string
	Headers map[string]string
	Body    string
	Fill    string // repeated Times times in place of {fill} in Body and Target
	Times   int
}

// Answer is what must come back. A header beginning with ~ is a regular
// expression; an empty one must be absent. In Body, the string "*" matches any
// value, a string beginning with ~ is a regular expression, and the members must
// have the same order.
type Answer struct {
	Status  int
	Headers map[string]string
	Body    json.RawMessage
}

// Cases reads the suite; an unknown field is an error.
func Cases(t testing.TB) []Case {
	t.Helper()
	var cases []Case
	require.NoError(t, decodeStrict(raw, &cases), "cases.json")
	return cases
}
