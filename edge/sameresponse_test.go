package edge_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

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

// What a test key gets is the origin's decision, whatever the worker would do by itself, so the
// bytes are the same, of the headers too: the worker's request takes one token of the tests'
// rate. Nothing of it is charged or counted.
func TestSameResponseToTestKeys(t *testing.T) {
	o := startOrigin(t, "--dns", contract.Serve(t))
	requests := testKeyRequests(t)
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, "http://"+o.hostPort)
			for _, policy := range []string{"", "strict"} {
				email := runtime.name + policy + "@tests.test"
				o.accountWithPolicy(t, email, policy)
				a, err := o.ledger.AccountByEmail(t.Context(), email)
				require.NoError(t, err)
				key, _, err := o.ledger.CreateTestKey(t.Context(), a.ID, "test", book.KeyTerms{Policy: policy})
				require.NoError(t, err)
				for _, r := range requests {
					r = r.With("X-API-Key: "+key, "X-Request-Id: twin")
					direct, edge := o.sendTest(t, o.process, r), o.sendTest(t, w, r)
					assert.Equal(t, direct.essence(), edge.essence(), "%s %s", r.Target, r.Body)
				}
				require.Zero(t, o.used(t, email))
				points, found := o.found(t, email)
				require.Zero(t, points)
				require.Zero(t, found)
			}
		})
	}
}

// testKeyRequests returns requests with every row of the table, and others.
func testKeyRequests(t *testing.T) (list []request) {
	var table struct{ Rows []struct{ Local string } }
	require.NoError(t, json.Unmarshal([]byte(readFile(t, "../origin/api/testkeys.json")), &table))
	require.NotEmpty(t, table.Rows)
	for _, row := range table.Rows {
		email := row.Local + "+x@addrspec.test"
		list = append(list, get("/v1/email/"+email), get("/v1/email/"+email+"?details=true&policy=strict"),
			post(`{"emails":["`+email+`","jane@addrspec.test"],"details":true}`))
	}
	for _, path := range []string{"", "a..b@addrspec.test", "jane@mail.example", "jane@addrspec.test?details=2", "jane@addrspec.test?policy=none", "%ff@addrspec.test"} {
		list = append(list, get("/v1/email/"+path))
	}
	return append(list, get("/v1/usage"), post(""), post("{"), post(`{"emails":["a..b@addrspec.test"]}`), post(`{"emails":["jane@mail.example"]}`),
		post(`{"emails":["jane@addrspec.test"]}`, "Idempotency-Key: one"), post(`{"emails":["relay@addrspec.test"]}`, "Idempotency-Key: one"))
}

// sendTest sends a request with a test key. The rate is left out of the response: its tokens
// come back while the requests are sent.
func (o *origin) sendTest(t *testing.T, to *process, r request) response {
	a := to.send(t, r)
	for strings.Contains(a.body, "before the next request") && !strings.Contains(r.Target+r.Body, "rate-limited") {
		a = to.send(t, r) // the tests are faster than the rate
	}
	a.header.Del("RateLimit")
	a.body = tokensLeft.ReplaceAllString(a.body, "")
	return a
}

var tokensLeft = regexp.MustCompile(`"rate":\{"limit":100,"remaining":\d+`)

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

// A request that names a policy is one round trip to the origin. The first request by a key's
// default policy is two, and those after it are one, because the worker remembers the key.
func TestRoundTripsOfPolicies(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	w := startWorkerd(t, "http://"+o.hostPort)
	named := "X-API-Key: " + o.accountWithPolicy(t, "named@twin.test", "")
	byDefault := "X-API-Key: " + o.accountWithPolicy(t, "default@twin.test", "strict")
	for _, c := range []struct {
		request request
		served  string // so far, by the origin
	}{
		{get("/v1/email/info@mail.example?policy=strict", named), "edge 0 single 1 batch 0"},
		{post(`{"emails":["info@mail.example"],"policy":"strict"}`, named), "edge 0 single 1 batch 1"},
		{get("/v1/email/info@mail.example", byDefault), "edge 1 single 2 batch 1"},
		{get("/v1/email/info@mail.example", byDefault), "edge 1 single 3 batch 1"},
		{post(`{"emails":["info@mail.example"]}`, byDefault), "edge 1 single 3 batch 2"},
	} {
		a := w.send(t, c.request)
		require.Contains(t, a.body, `"verdict":{"action":"block","reason":"role","rule":"block.reasons[0]"}`)
		require.Eventually(t, func() bool { return o.served(t) == c.served }, hung, 10*time.Millisecond,
			"%s %s: %s", c.request.Method, c.request.Target, c.served) // counted once it is sent
	}
	require.EqualValues(t, 2, o.used(t, "named@twin.test"))
	require.EqualValues(t, 3, o.used(t, "default@twin.test"))
}

// served returns how many requests of a worker the origin has served.
func (o *origin) served(t *testing.T) string {
	counts := map[string]int{}
	for _, m := range servedBy.FindAllStringSubmatch(o.send(t, get("/metrics")).body, -1) {
		n, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		counts[m[1]] += n
	}
	return fmt.Sprint("edge ", counts["edge"], " single ", counts["single"], " batch ", counts["batch"])
}

var servedBy = regexp.MustCompile(`(?m)^addrspec_requests_total\{route="(\w+)",status="\d+"\} (\d+)$`)

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
