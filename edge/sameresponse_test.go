package edge_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
)

// The worker's response to any request has the same bytes as the origin's, except
// for the time that a batch took.
func TestSameResponseAsOrigin(t *testing.T) {
	o := startOrigin(t, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--dashboard=off") // its pages have tokens
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, "http://"+o.hostPort)
			for _, policy := range []string{"", "strict"} { // the key's default
				direct, edge := runtime.name+policy+"-direct@twin.test", runtime.name+policy+"-edge@twin.test"
				key := [2]string{o.accountWithPolicy(t, direct, policy), o.accountWithPolicy(t, edge, policy)}
				for name, r := range oddities() {
					if runtime.foldsSlashes && strings.HasPrefix(r.Target, "//") {
						continue
					}
					direct := o.send(t, r.With("X-API-Key: "+key[0], "X-Request-Id: twin"))
					edge := w.send(t, r.With("X-API-Key: "+key[1], "X-Request-Id: twin"))
					if direct.beforeRouting(r) {
						continue
					}
					assert.Equal(t, direct.essence(), edge.essence(), "%s, default policy %q", name, policy)
				}
				o.requireSameUsage(t, direct, edge)
			}
		})
	}
}

// strict is a policy for which the origin looks up address records.
const strict = `{"block": {"domains": ["*.bulk.example"], "reasons": ["role", "alias", "no_mail", "non_ascii"]}, "review": {"reasons": ["disposable", "no_mx"]}}`

// accountWithPolicy returns a key of a new account that has the policy strict. Its default policy
// is the named one.
func (o *origin) accountWithPolicy(t *testing.T, email, policy string) (key string) {
	key = o.account(t, email)
	a, err := o.ledger.AccountByEmail(t.Context(), email)
	require.NoError(t, err)
	_, err = o.ledger.SetPolicy(t.Context(), a.ID, "strict", strict)
	require.NoError(t, err)
	keys, err := o.ledger.ListKeys(t.Context(), a.ID, book.KeyPage{})
	require.NoError(t, err)
	require.NoError(t, o.ledger.ChangeKey(t.Context(), a.ID, keys[0].ID, book.KeyChange{Terms: &book.KeyTerms{Policy: policy}}))
	return key
}

// requireSameUsage requires that two accounts have the same charges and facts in the
// usage history: the worker's counts are those that the origin would make.
func (o *origin) requireSameUsage(t *testing.T, one, other string) {
	t.Helper()
	require.Equal(t, o.used(t, one), o.used(t, other))
	points, found := o.found(t, one)
	otherPoints, otherFound := o.found(t, other)
	require.Equal(t, points, otherPoints)
	require.Equal(t, found, otherFound)
	require.NotZero(t, found.Valid)
	require.Equal(t, points, found.Valid+found.Invalid+found.LookupErrors, "every point is an address")
}

var took = regexp.MustCompile(`"processing_time_ms":\d+`)

// essence returns the part of a response in which origin and worker must agree.
func (a response) essence() string {
	var e strings.Builder
	fmt.Fprintln(&e, a.status)
	names := []string{"Content-Type", "Cache-Control", "Retry-After", "Allow", "X-Usage-Current", "X-Usage-Limit",
		"X-Usage-Overage", "RateLimit", "RateLimit-Policy", "Idempotency-Replayed", "Content-Encoding", "Location",
		"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Max-Age", "Access-Control-Expose-Headers", "Vary"}
	if !strings.Contains(a.body, "BAD_REQUEST") && !strings.Contains(a.body, "not well-formed HTTP") { // net/http refuses malformed HTTP before it knows the headers
		names = append(names, "X-Request-Id", "X-Content-Type-Options")
	}
	for _, name := range names {
		fmt.Fprintf(&e, "%s: %s\n", name, a.header.Values(name))
	}
	return e.String() + took.ReplaceAllString(a.body, `"processing_time_ms":0`)
}

var brokenPercent = regexp.MustCompile(`^[^?]*%([^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$|.?\?)`)

// beforeRouting reports whether a is net/http's refusal of a malformed percent sign,
// which a worker sees in an address only.
func (a response) beforeRouting(r request) bool {
	return brokenPercent.MatchString(r.Target) && strings.Contains(a.body, "not well-formed HTTP")
}
