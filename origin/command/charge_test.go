package command

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// once is the header of a request with an Idempotency-Key.
func once(key string) http.Header { return http.Header{"Idempotency-Key": {key}} }

// slow starts a service whose resolver does not reply about silent.example, and
// sends a batch that waits for it.
func slow(t *testing.T, points book.Limit, header http.Header) (s *instance, key string, done chan int) {
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s = start(t, "--dns", dns.Addr, "--dns-timeout", "4s")
	key, _ = s.limitedKey(t, points)
	done = make(chan int, 1)
	go func() {
		response, _ := s.send(t, http.MethodPost, "/v1/emails", key, `{"emails":["a@silent.example","b@silent.example"]}`, header)
		done <- response.StatusCode
	}()
	require.Eventually(t, func() bool { return dns.Asked("silent.example") > 0 }, hung, time.Millisecond)
	return s, key, done
}

// An idempotency record belongs to the account: every key of the account replays
// it, and no key of another does.
func TestReplayForEveryKeyOfTheAccount(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	first, account := s.limitedKey(t, 1)
	second := ledgertest.NewKey(t, s.ledger, account)
	const body = `{"emails":["a@mail.example"]}`
	_, text := s.send(t, http.MethodPost, "/v1/emails", first, body, once("one"))
	response, again := s.send(t, http.MethodPost, "/v1/emails", second, body, once(`"one"`))
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "true", response.Header.Get("Idempotency-Replayed"))
	require.Equal(t, text, again)

	response, _ = s.send(t, http.MethodPost, "/v1/emails", s.otherKey(t), body, once("one"))
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Empty(t, response.Header.Get("Idempotency-Replayed"))
	require.Equal(t, "1", response.Header.Get("X-Usage-Current"))
}

// While a batch is in progress, another one with its Idempotency-Key gets 409. Later
// it gets the stored response.
func TestIdempotencyConflict(t *testing.T) {
	t.Parallel()
	s, key, done := slow(t, 100, once("one"))
	const body = `{"emails":["a@silent.example","b@silent.example"]}`
	response, text := s.send(t, http.MethodPost, "/v1/emails", key, body, once("one"))
	require.Equal(t, http.StatusConflict, response.StatusCode)
	require.Contains(t, text, `{"success":false,"error":{"code":"IDEMPOTENCY_CONFLICT"`)
	response, text = s.send(t, http.MethodPost, "/v1/emails", key, `{"emails":["x"]}`, once("one"))
	require.Equal(t, http.StatusUnprocessableEntity, response.StatusCode, text)
	require.Equal(t, http.StatusOK, <-done)
	response, text = s.send(t, http.MethodPost, "/v1/emails", key, body, once("one"))
	require.Equal(t, "true", response.Header.Get("Idempotency-Replayed"))
	require.Contains(t, text, `"message":"DNS lookup timed out for domain silent.example"`)
	require.EqualValues(t, 2, s.used(t))
}

func TestPointsInProgressCountAsUsed(t *testing.T) {
	t.Parallel()
	s, key, done := slow(t, 2, nil)
	response, text := s.send(t, http.MethodPost, "/v1/emails", key, `{"emails":["x"]}`, nil)
	require.Equal(t, http.StatusPaymentRequired, response.StatusCode)
	require.Contains(t, text, `"required":1,"remaining":0}}`)
	require.Equal(t, "0", response.Header.Get("X-Usage-Current"))
	response, text = s.send(t, http.MethodGet, "/v1/email/a@mail.example", key, "", nil)
	require.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	require.Equal(t, "1", response.Header.Get("Retry-After"))
	require.Regexp(t, "Rate limit exceeded: .* second", text)
	require.Equal(t, http.StatusOK, <-done)
	require.EqualValues(t, 2, s.used(t))
}

// A client that disconnects is not charged, and its work stops: the points of the
// request are available again before the lookup could have timed out.
func TestDisconnectIsFree(t *testing.T) {
	t.Parallel()
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--batch-timeout", "20s")
	key, _ := s.limitedKey(t, 1)
	for n, request := range []string{
		"GET /v1/email/a@silent.example HTTP/1.1\r\nHost: x\r\nX-API-Key: " + key + "\r\n\r\n",
		"POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-Key: " + key + "\r\nContent-Type: application/json\r\nContent-Length: 31\r\n\r\n{\"emails\":[\"a@silent.example\"]}",
	} {
		conn := origintest.Dial(t, s.hostPort, hung).Send(request)
		require.Eventually(t, func() bool { return dns.Asked("silent.example") > n }, hung, time.Millisecond)
		require.NoError(t, conn.Close())
		require.Eventually(t, func() bool {
			response, _ := s.send(t, http.MethodPost, "/v1/emails", key, `{"emails":["x","y"]}`, nil)
			_, text := s.send(t, http.MethodPost, "/v1/emails", key, `{"emails":["x","y"]}`, nil)
			return response.StatusCode == 402 && strings.Contains(text, `"remaining":1`)
		}, hung, 20*time.Millisecond)
	}
	require.Zero(t, s.used(t))
}

// The key, the rate and the headers are checked before the body is read: the
// response arrives although the body was not sent.
func TestKeyIsCheckedBeforeTheBody(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	key, _ := s.limitedKey(t, 1)
	for name, c := range map[string]struct {
		key    string
		status int
	}{
		"unknown":       {book.NewSecret(), http.StatusUnauthorized},
		"good, no JSON": {key, http.StatusUnsupportedMediaType},
	} {
		t.Run(name, func(t *testing.T) {
			conn := origintest.Dial(t, s.hostPort, hung)
			conn.Send("POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-Key: " + c.key + "\r\nContent-Length: 1000000\r\n\r\n")
			require.Equal(t, c.status, conn.Header(http.MethodPost).StatusCode)
		})
	}
}

// The usage history counts the facts of charged addresses alike, whether the
// origin or a worker ran the checks.
func TestHistoryCountsFacts(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--dns-timeout", "3s", "--edge-secret", origintest.EdgeSecret)
	key, _ := s.limitedKey(t, 100)
	status, _, err := s.post(key, []string{"info@mail.example", "jane@mail.example", "bad", "c@[192.0.2.1]", "d@servfail.example"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	want := book.Found{Valid: 3, Invalid: 1, Role: 1, LookupErrors: 1}
	points, direct := ledgertest.Usage(t, s.ledger, testAccount)
	require.Equal(t, want, direct)
	require.EqualValues(t, 5, points)

	response, text := s.send(t, http.MethodPost, "/v1/edge/admit", key, `{"operation":"batch","points":5,"tally":{"valid":1,"invalid":1},"domains":[
		{"name":"mail.example","addresses":2,"tally":{"valid":2,"role":1}},
		{"name":"servfail.example","addresses":1,"tally":{"valid":1,"gibberish":1}}]}`, http.Header{"X-Edge-Secret": {origintest.EdgeSecret}})
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	points, both := ledgertest.Usage(t, s.ledger, testAccount)
	require.Equal(t, book.Found{Valid: 6, Invalid: 2, Role: 2, LookupErrors: 2}, both)
	require.EqualValues(t, 10, points)

	response, _ = s.send(t, http.MethodGet, "/v1/email/info@mail.example", key, "", nil)
	require.Equal(t, http.StatusOK, response.StatusCode)
	points, all := ledgertest.Usage(t, s.ledger, testAccount)
	require.Equal(t, book.Found{Valid: 7, Invalid: 2, Role: 3, LookupErrors: 2}, all)
	require.EqualValues(t, 11, points)
}

// A worker that reports refused input is not charged, even if the account's limit
// was lowered below its use.
func TestFreeAdmissionNeedsNoPoints(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--edge-secret", origintest.EdgeSecret)
	key, account := s.limitedKey(t, 2)
	status, _, err := s.post(key, []string{"a", "b"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	require.NoError(t, s.ledger.ChangeTerms(context.Background(), account, book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(1)}))
	time.Sleep(1100 * time.Millisecond) // real time: a view that accepts may be a second old
	response, text := s.send(t, http.MethodPost, "/v1/edge/admit", key, `{"operation":"batch","points":0}`, http.Header{"X-Edge-Secret": {origintest.EdgeSecret}})
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	require.EqualValues(t, 2, s.used(t))
}
