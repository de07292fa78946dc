package command

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// neverResponded has the features of openapi.json that these tests do not see.
var neverResponded = map[string]string{
	".* 500 INTERNAL_ERROR": "it needs a defect; api's tests cause a panic and check the shape",
}

// A surveyed service is one whose responses must be as openapi.json describes them.
type surveyed struct {
	*instance
	survey *contract.Survey
}

func (s surveyed) send(t *testing.T, r origintest.Request) int {
	t.Helper()
	return s.sendText(t, r.Method, r.Target, r.Text(s.hostPort))
}

func (s surveyed) sendText(t *testing.T, method, target, text string) int {
	t.Helper()
	response, body := origintest.Exchange(t, s.hostPort, text, hung)
	s.check(t, method, target, response, body)
	return response.StatusCode
}

func (s surveyed) check(t *testing.T, method, target string, response *http.Response, body string) {
	t.Helper()
	require.NoError(t, s.survey.Check(contract.Reply{
		Method: method, Target: target, Status: response.StatusCode, Header: response.Header, Body: []byte(body)}))
}

func (s surveyed) malformed(t *testing.T) {
	for _, r := range s.survey.Requests() {
		below := http.StatusNotFound
		if strings.HasPrefix(r.Target, "/v1/email/") { // an address may contain slashes
			below = http.StatusMethodNotAllowed
		}
		line := r.Method + " " + r.Target + " HTTP/1.1\r\nHost: x\r\n"
		for text, status := range map[string]int{
			line + "X: \x01\r\n\r\n":                                          400,
			line + "Expect: x\r\n\r\n":                                        417,
			line + "X: " + strings.Repeat("x", 80<<10) + "\r\n\r\n":           431,
			line + "Transfer-Encoding: odd\r\n\r\n":                           501,
			r.Method + " " + r.Target + " HTTP/9.9\r\nHost: x\r\n\r\n":        505,
			"TRACE " + r.Target + " HTTP/1.1\r\nHost: x\r\n\r\n":              405,
			"TRACE " + r.Target + "/no/such/path HTTP/1.1\r\nHost: x\r\n\r\n": below,
		} {
			words := strings.Fields(text)
			require.Equal(t, status, s.sendText(t, words[0], words[1], text), "%.80q", text)
		}
	}
}

func (s surveyed) usage(t *testing.T) {
	key, account := ledgertest.NewAccountOn(t, s.ledger, "beyond@contract.test", overage(2))
	require.Equal(t, http.StatusOK, s.send(t, batchRequest(key, "jane@mail.example", "john@mail.example")))
	read := origintest.Request{Method: http.MethodGet, Target: "/v1/usage", Header: []string{"X-API-Key: " + key}}
	require.Equal(t, http.StatusOK, s.send(t, read))
	await(t, func() bool { return s.send(t, read) == http.StatusTooManyRequests })
	read.Header = []string{"X-API-Key: " + s.policyKey(t, account, "strict", "{}")}
	await(t, func() bool { return s.send(t, read) == http.StatusOK })
}

func overage(rate book.Limit) book.Terms {
	allowed := true
	return book.Terms{Rate: &rate, Points: ledgertest.Limit(1), Overage: &allowed}
}

// conflict sends a batch twice at a time with one Idempotency-Key. Its lookup
// takes until --dns-timeout, so one of them finds the other in progress.
func (s surveyed) conflict(t *testing.T) {
	key, _ := ledgertest.NewAccountOn(t, s.ledger, "conflict@contract.test", book.Terms{Rate: ledgertest.Unlimited()})
	text := batchRequest(key, "jane@silent.example").With("Idempotency-Key: once").Text(s.hostPort)
	first, second := origintest.Dial(t, s.hostPort, hung), origintest.Dial(t, s.hostPort, hung)
	first.Send(text)
	second.Send(text)
	var statuses []int
	for _, conn := range []*origintest.TestConn{first, second} {
		response, body := conn.Response()
		s.check(t, http.MethodPost, "/v1/emails", response, body)
		statuses = append(statuses, response.StatusCode)
	}
	require.ElementsMatch(t, []int{http.StatusOK, http.StatusConflict}, statuses)
}

// crowded sends every operation to a service whose only connection is in use: a
// handler that has sent 100 Continue waits for the body.
func (s surveyed) crowded(t *testing.T) {
	key := s.newKey(t)
	busy := origintest.Dial(t, s.hostPort, hung)
	request := batchRequest(key, "jane@mail.example").With("Expect: 100-continue").Text(s.hostPort)
	header, _, _ := strings.Cut(request, "\r\n\r\n")
	busy.Send(header + "\r\n\r\n")
	require.Equal(t, http.StatusContinue, busy.Header(http.MethodPost).StatusCode)
	for _, r := range s.survey.Requests() {
		require.Equal(t, http.StatusServiceUnavailable, s.send(t, r), "%s %s", r.Method, r.Target)
	}
}

func batchRequest(key string, emails ...string) origintest.Request {
	return origintest.Request{Method: http.MethodPost, Target: "/v1/emails",
		Header: []string{"X-API-Key: " + key, "Content-Type: application/json"},
		Body:   `{"emails":["` + strings.Join(emails, `","`) + `"]}`}
}

func TestContract(t *testing.T) {
	t.Parallel()
	s := surveyed{start(t, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--batch-timeout", "20s",
		"--security-txt", origintest.SecurityTxt(t)), contract.NewSurvey(t, "")}
	t.Run("cases", func(t *testing.T) { contract.Run(t, contract.Cases(t), s.hostPort, s.ledger, s.survey) })
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/.well-known/security.txt"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			require.Equal(t, http.StatusOK, s.send(t, origintest.Request{Method: method, Target: path}), path)
		}
	}
	t.Run("malformed", s.malformed)
	t.Run("usage", s.usage)
	slow := []string{"--dns", contract.Serve(t), "--dns-timeout", "1s"} // and nothing in its cache
	t.Run("conflict", surveyed{start(t, slow...), s.survey}.conflict)
	t.Run("crowded", surveyed{start(t, "--max-connections", "1"), s.survey}.crowded)
	s.survey.RequireComplete(t, neverResponded)
	log := s.wholeLog(t)
	require.NotContains(t, log, "@", "the log contains an address")
	require.NotContains(t, log, "ask_", "the log contains a key")
}

// Responses to workers are as openapi-edge.json describes them.
func TestEdgeDescription(t *testing.T) {
	t.Parallel()
	s := surveyed{start(t, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--edge-secret", origintest.EdgeSecret),
		contract.NewSurvey(t, "../api/openapi-edge.json")}
	key := s.newKey(t)
	beyond, _ := ledgertest.NewAccountOn(t, s.ledger, "beyond@contract.test", overage(1))
	poor, _ := ledgertest.NewAccountOn(t, s.ledger, "poor@contract.test",
		book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(0)})
	_, account := ledgertest.NewAccountOn(t, s.ledger, "page@contract.test", overage(9))
	page, _, err := s.ledger.CreateKey(t.Context(), account, "page", book.KeyTerms{Origins: []string{"https://shop.example"}})
	require.NoError(t, err)
	strict := s.policyKey(t, account, "strict", "{}")
	const ask = `{"operation":"single","points":1,"domains":[{"name":"mail.example","addresses":1}]}`
	for _, c := range []struct {
		key, body string
		status    int
		header    string
	}{
		{key, ask, 200, ""},
		{page, strings.Replace(ask, `1,`, `1,"brief":true,`, 1), 204, "Origin: https://shop.example"},
		{beyond, `{"operation":"batch","points":2,"domains":[{"name":"silent.example","addresses":2}]}`, 200, ""},
		{key, `{"operation":"single","points":2}`, 400, ""},
		{key, `{"operation":"batch","points":65}`, 400, ""},
		{page, ask, 200, "Origin: https://shop.example"},
		{page, ask, 401, ""},
		{"nonsense", ask, 401, ""},
		{poor, `{"operation":"batch","points":2}`, 402, ""},
		{poor, ask, 429, ""},
		{key, ask, 403, "X-Edge-Secret: wrong"},
		{key, strings.Repeat(" ", 1<<20+1), 413, ""},
		{key, ask, 415, "Content-Type: text/plain"},
		{key, strings.ReplaceAll(ask, "mail", "servfail"), 503, ""},
		{strict, "its body is not read", 204, ""},
		{strict, `{"operation":"single","points":0}`, 204, ""},
	} {
		r := origintest.Request{Method: http.MethodPost, Target: "/v1/edge/admit", Body: c.body,
			Header: withHeader(c.header, "X-API-Key: "+c.key, "Content-Type: application/json",
				"X-Edge-Secret: "+origintest.EdgeSecret)}
		require.Equal(t, c.status, s.send(t, r), c.body)
	}
	t.Run("malformed", s.malformed)
	s.survey.RequireComplete(t, neverResponded)
}

// withHeader returns header lines, of which header replaces that of its name if there is one,
// and is added otherwise.
func withHeader(header string, usual ...string) []string {
	if header == "" {
		return usual
	}
	name, _, _ := strings.Cut(header, ":")
	return append(slices.DeleteFunc(usual, func(line string) bool { return strings.HasPrefix(line, name+":") }), header)
}

// Responses to sign-up systems are as openapi-hooks.json describes them.
func TestHookDescription(t *testing.T) {
	t.Parallel()
	file := hooksFile(t, anyObject{"rate": 1}, anyObject{"name": "auth", "format": "supabase"},
		anyObject{"name": "mailer", "format": "supabase-mailer", "timeout": "2.5s"})
	s := surveyed{start(t, "--dns", contract.Serve(t), "--hooks", file), contract.NewSurvey(t, "../api/openapi-hooks.json")}
	s.newKey(t)
	send := func(hook, id, body, header string) int {
		var lines []string
		for name, values := range signed(t, hookSecret, id, time.Now(), body) {
			lines = append(lines, name+": "+values[0])
		}
		return s.send(t, origintest.Request{Method: http.MethodPost, Target: "/v1/hooks/" + hook, Body: body,
			Header: withHeader(header, lines...)})
	}
	const email = `{"email":"jane@mail.example"}`
	uuid := "8b34dcdd-9df1-4c10-850a-b3277c653040"
	for _, c := range []struct {
		hook, id, body string
		status         int
		header         string
	}{
		{"auth", "msg_1", supabaseBody(uuid, "jane@mail.example", "{}"), 200, ""},
		{"auth", "msg_2", supabaseBody(uuid, "jane@mail.example", "{}"), 200, ""},
		{"auth", "msg_3", supabaseBody("x"+uuid, "jane@none.example", "{}"), 200, ""},
		{"auth", "msg_4", supabaseBody(uuid, "other@mail.example", "{}"), 422, ""},
		{"auth", "msg_5", email, 400, ""},
		{"signup", "msg_1", email, 415, "Content-Type: text/plain"},
		{"signup", "msg_1", strings.Repeat(" ", 300<<10), 413, ""},
		{"signup", "msg_1", email, 401, "Webhook-Signature: v1,x"},
		{"mailer", "msg_1", email, 401, ""},
		{"mailer", "msg_1", email, 200, "Authorization: Bearer " + hookSecret},
		{"signup", "msg_1", email, 200, ""},
		{"signup", "msg_2", `{"email":"jane..doe@mail.example"}`, 200, ""},
	} {
		require.Equal(t, c.status, send(c.hook, c.id, c.body, c.header), c)
	}
	// one a second, which a slow machine does not exceed at once
	for n := 3; send("signup", fmt.Sprint("msg_", n), email, "") != http.StatusTooManyRequests; n++ {
		require.Less(t, n, 1000)
	}
	t.Run("malformed", s.malformed)
	t.Run("crowded", func(t *testing.T) {
		surveyed{start(t, "--hooks", file, "--max-connections", "1"), s.survey}.crowded(t)
	})
	s.survey.RequireComplete(t, neverResponded)
}
