package edge_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
)

// Origin and worker send the same response to a request whose body, path or header is damaged,
// also with a policy or a test key. The requests are the same in every run, unless ADDRSPEC_ALL is
// set: Go's fuzzing cannot be used with programs that outlive its workers.
func TestSameResponseToDamagedRequest(t *testing.T) {
	mutants, seed := 400, uint64(1)
	if os.Getenv("ADDRSPEC_ALL") != "" {
		mutants, seed = 2500, uint64(time.Now().Unix())
	}
	o := startOrigin(t, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--dashboard=off") // its pages have tokens
	w := startWorkerd(t, "http://"+o.hostPort)
	kinds := make([][2]string, 6) // of keys, the origin's and the worker's: with a default policy, for tests, usual ones
	for n, email := range []string{"direct@fuzz.test", "edge@fuzz.test"} {
		usual := o.accountWithPolicy(t, email, "")
		for kind := range kinds {
			kinds[kind][n] = usual
		}
		kinds[0][n] = o.accountWithPolicy(t, "strict-"+email, "strict")
		a, err := o.ledger.AccountByEmail(t.Context(), email)
		require.NoError(t, err)
		kinds[1][n], _, err = o.ledger.CreateTestKey(t.Context(), a.ID, "tests", book.KeyTerms{})
		require.NoError(t, err)
	}
	random := rand.New(rand.NewPCG(seed, 2))
	var odd []request
	for _, name := range slices.Sorted(maps.Keys(oddRequests)) {
		odd = append(odd, oddRequests[name])
	}
	for n := range mutants {
		header := odd[random.IntN(len(odd))].With("Accept: */*")
		at := random.IntN(len(header.Header))
		name, value, _ := strings.Cut(header.Header[at], ": ")
		header.Header[at] = name + ": " + damage(random, value, ",;=\"'/* azAZ09_-.:\xff")
		target := pathOf(mutate(random, oddTargets, "%2Ffa@.+:;,()[]!$&'*=~-_/?"))
		key := kinds[random.IntN(len(kinds))]
		for _, r := range []request{header, get(target), get(target + "?details=true&policy=strict"),
			post(mutate(random, oddBodies, "{}[]:,\"\\/0-+.eEtrufalsn \n\t\x00\x7f\xff\xe2\x82\xac@")),
			get("/" + strings.TrimPrefix(mutate(random, oddTargets, "%2Ffa@.+:;,()[]!$&'*=~-_/?v1emails"), "/"))} {
			direct := o.send(t, r.With("X-API-Key: "+key[0], "X-Request-Id: fuzz"))
			edge := w.send(t, r.With("X-API-Key: "+key[1], "X-Request-Id: fuzz"))
			isLate := direct.status == http.StatusTooManyRequests || edge.status == http.StatusTooManyRequests
			if direct.beforeRouting(r) || dots.MatchString(r.Target) || key == kinds[1] && isLate {
				continue
			}
			require.Equal(t, left.ReplaceAllString(direct.essence(), ""), left.ReplaceAllString(edge.essence(), ""), "seed %d, %d: %q %q %q", seed, n, r.Target, r.Header, r.Body)
		}
	}
	o.requireSameUsage(t, "direct@fuzz.test", "edge@fuzz.test")
	o.requireSameUsage(t, "strict-direct@fuzz.test", "strict-edge@fuzz.test")
}

// left is what a test key may still send in a second.
var left = regexp.MustCompile(`"rate";r=\d+|"remaining":\d+`)

// dots matches a target whose address is a dot segment, of which fetch would leave nothing: where
// the worker forwards such a request, the place of the mistake is that of three dots.
var dots = regexp.MustCompile(`(?i)^/v1/email/(\.|%2e){1,2}(\?|$)`)

// mutate returns one of seeds, damaged.
func mutate(random *rand.Rand, seeds []string, alphabet string) string {
	s := seeds[random.IntN(len(seeds))]
	for len(s) > 500 || strings.Contains(s, "silent") { // DNS timeouts are slow, and tested elsewhere
		s = seeds[random.IntN(len(seeds))]
	}
	return damage(random, s, alphabet)
}

// damage changes text at up to three positions with bytes of alphabet.
func damage(random *rand.Rand, s, alphabet string) string {
	for range 1 + random.IntN(3) {
		at, c := random.IntN(len(s)+1), alphabet[random.IntN(len(alphabet))]
		switch rest := s[at:]; random.IntN(3) {
		case 0: // insert
			s = s[:at] + string([]byte{c}) + rest
		case 1: // replace
			s = s[:at] + string([]byte{c}) + rest[min(1, len(rest)):]
		default: // drop
			s = s[:at] + rest[min(1+random.IntN(4), len(rest)):]
		}
	}
	return s
}

// pathOf returns a path of the single operation with the target as its address.
func pathOf(target string) string {
	return fmt.Sprintf("/v1/email/%s", strings.TrimPrefix(target, "/v1/email/"))
}
