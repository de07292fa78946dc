package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// An account whose lookups all wait for a silent resolver gets 429 for the next
// request. Another account is served meanwhile, and unfinished work costs nothing.
func TestWaitingLookupsDoNotDelayOtherAccounts(t *testing.T) {
	t.Parallel()
	dns := mxtest.New(t, contract.Zone)
	dns.RespondAll(mxtest.Silent)
	dns.Respond("mail.example", mxtest.Answer)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "60s", "--dns-concurrency", "4", "--batch-timeout", "60s")
	flooder := s.newKey(t)

	const batches = 1 + (1+1024)/64 // one lookup in progress and 1,024 waiting
	responses := make(chan *http.Response, batches)
	for n := range batches {
		go func() {
			resp, _ := s.send(t, http.MethodPost, "/v1/emails", flooder, silentBatch(n), nil)
			responses <- resp
		}()
	}
	refused := <-responses // the others wait
	require.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
	require.Equal(t, "1", refused.Header.Get("Retry-After"))

	resp, body := s.send(t, http.MethodGet, "/v1/email/a@mail.example", s.otherKey(t), "", nil)
	require.Equal(t, http.StatusOK, resp.StatusCode, body)
	require.Contains(t, body, `"mx":true`)
	s.stop()
	for range batches - 1 {
		require.NotEqual(t, http.StatusOK, (<-responses).StatusCode)
	}
	s.requireStopped(t)
	require.Zero(t, s.used(t))
}

// silentBatch returns the body of a batch of 64 domains that differ for each n.
func silentBatch(n int) string {
	var emails []string
	for i := range 64 {
		emails = append(emails, fmt.Sprintf("a@d%d-%d.bulk.example", n, i))
	}
	body, _ := json.Marshal(map[string][]string{"emails": emails}) // strings always encode
	return string(body)
}
