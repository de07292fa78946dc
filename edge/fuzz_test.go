package edge_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// mutants is the number of damaged requests of each kind. They are the same in
// every run: Go's fuzzing cannot be used with programs that outlive its workers.
const mutants = 400

// Origin and worker send the same response to a damaged body or path.
func TestSameResponseToDamagedRequest(t *testing.T) {
	o := startOrigin(t, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--dashboard=off") // its pages have tokens
	w := startWorkerd(t, "http://"+o.hostPort)
	key := [2]string{"X-API-Key: " + o.account(t, "direct@fuzz.test"), "X-API-Key: " + o.account(t, "edge@fuzz.test")}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range mutants {
		for _, r := range []request{post(mutate(random, oddBodies, "{}[]:,\"\\/0-+.eEtrufalsn \n\t\x00\x7f\xff\xe2\x82\xac@")),
			get(pathOf(mutate(random, oddTargets, "%2Ffa@.+:;,()[]!$&'*=~-_/?"))),
			get("/" + strings.TrimPrefix(mutate(random, oddTargets, "%2Ffa@.+:;,()[]!$&'*=~-_/?v1emails"), "/"))} {
			direct := o.send(t, r.With(key[0], "X-Request-Id: fuzz"))
			edge := w.send(t, r.With(key[1], "X-Request-Id: fuzz"))
			if direct.beforeRouting(r) {
				continue
			}
			require.Equal(t, direct.essence(), edge.essence(), "%d: %q %q", n, r.Target, r.Body)
		}
	}
	o.requireSameUsage(t, "direct@fuzz.test", "edge@fuzz.test")
}

// mutate returns one of seeds, damaged at up to three positions with bytes of
// alphabet.
func mutate(random *rand.Rand, seeds []string, alphabet string) string {
	s := seeds[random.IntN(len(seeds))]
	for len(s) > 500 || strings.Contains(s, "silent") { // DNS timeouts are slow, and tested elsewhere
		s = seeds[random.IntN(len(seeds))]
	}
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
