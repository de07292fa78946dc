package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

// An account that has as many look-ups waiting for silent resolvers as it may
// gets 429. Another account is answered meanwhile, and what was not finished
// costs nothing.
func TestOneAccountsLookupsDelayNoOther(t *testing.T) {
	dns := mxtest.New(t, contract.Zone)
	dns.RespondAll(mxtest.Silent)
	dns.Respond("mail.example", mxtest.Answer)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "60s", "--dns-concurrency", "4", "--batch-timeout", "60s")
	flooder := s.newKey(t)

	const batches = 1 + (1+1024)/64 // one slot and 1,024 places
	answers := make(chan *http.Response, batches)
	for n := range batches {
		go func() {
			answer, _ := s.send(t, http.MethodPost, "/v1/emails", flooder, silentBatch(n), nil)
			answers <- answer
		}()
	}
	refused := <-answers // the others wait
	require.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
	require.Equal(t, "1", refused.Header.Get("Retry-After"))

	answer, body := s.send(t, http.MethodGet, "/v1/email/a@mail.example", s.otherKey(t), "", nil)
	require.Equal(t, http.StatusOK, answer.StatusCode, body)
	require.Contains(t, body, `"mx":true`)
	s.stop()
	for range batches - 1 {
		require.NotEqual(t, http.StatusOK, (<-answers).StatusCode)
	}
	s.requireStopped(t)
	require.Zero(t, s.used(t))
}

// silentBatch is the body of a batch of 64 domains that no other batch has.
func silentBatch(n int) string {
	var emails []string
	for i := range 64 {
		emails = append(emails, fmt.Sprintf("a@d%d-%d.bulk.example", n, i))
	}
	body, _ := json.Marshal(map[string][]string{"emails": emails}) // strings always encode
	return string(body)
}
