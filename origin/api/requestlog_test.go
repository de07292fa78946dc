package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

// Refused requests, with or without a key, get at most unservedLines a second.
// Requests served to an account are always logged.
func TestRefusedRequestsAreLoggedRarely(t *testing.T) {
	synctest.Test(t, testRefusedRequestsAreLoggedRarely)
}

func testRefusedRequestsAreLoggedRarely(t *testing.T) {
	const refused, served = 10 * unservedLines, 3 * unservedLines
	f := newFakes(t)
	send := func(n, status int, key string) {
		for range n {
			require.Equal(t, status, f.send(f.ask(http.MethodGet, "/v1/email/a@mail.example", "", "X-API-Key", key)).Code)
		}
	}
	lines := func() int { return strings.Count(strings.Join(f.log.list(), ""), "msg=request") }
	send(refused/2, 401, "")
	f.ledger.begin = decided(ledger.RateLimited)
	send(refused/2, 429, goodKey)
	require.Equal(t, unservedLines, lines(), "in one second")
	before := lines()
	f.ledger.begin, f.ledger.claim, f.ledger.charge = decided(ledger.Good), decided(ledger.Good), decided(ledger.Good)
	send(served, 200, goodKey)
	require.Equal(t, before+served, lines())
	require.Contains(t, f.log.list()[0], " took_ms=0 ", "with its unit, since JSON has a number only")
	require.Contains(t, strings.Join(f.log.list(), ""), fmt.Sprintf("left_out=%d", refused-unservedLines), "the next line has the count")
}
