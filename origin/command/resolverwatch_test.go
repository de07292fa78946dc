package command

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

const lookUpsWillFail = "MX lookups will fail"

// A silent resolver delays neither the start nor requests; the log and a metric
// report it.
func TestStartDoesNotWaitForResolver(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	s := start(t, "--dns", silent.LocalAddr().String())
	ready, _ := s.send(t, http.MethodGet, "/readyz", "", "", nil)
	require.Equal(t, http.StatusOK, ready.StatusCode)
	require.False(t, s.log.Contains(lookUpsWillFail), "the probe must not be over yet")
	_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
	require.Contains(t, metrics, "\naddrspec_mx_resolver_answered 0\n")
	require.Eventually(t, func() bool { return s.log.Contains(lookUpsWillFail) }, hung, 20*time.Millisecond)
}

func TestResolverThatRespondsIsInMetrics(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	require.Eventually(t, func() bool {
		_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
		return strings.Contains(metrics, "\naddrspec_mx_resolver_answered 1\n")
	}, hung, 20*time.Millisecond)
	require.False(t, s.log.Contains(lookUpsWillFail))
}

// knownZone has a domain of --dns-with-mx, one with MX and one without.
const knownZone = `
gmail.com.    300 IN MX  10 mx.gmail.com.
mail.example. 300 IN MX  10 mx.mail.example.
web.example.  300 IN TXT "no mail"
`

// deny replies that there is no such name.
func deny(w dns.ResponseWriter, m *dns.Msg) {
	m.Rcode, m.Answer = dns.RcodeNameError, nil
	mxtest.Answer(w, m)
}

func (s *instance) requireStatus(t *testing.T, status int, path, key, want string) {
	t.Helper()
	response, body := s.send(t, http.MethodGet, path, key, "", nil)
	require.Equal(t, status, response.StatusCode, body)
	require.Contains(t, body, want)
}

// admit sends what a worker sends for one domain.
func (s *instance) admit(t *testing.T, key, domain, operation string) (status int, body string) {
	t.Helper()
	response, body := s.send(t, http.MethodPost, "/v1/edge/admit", key,
		`{"operation":"`+operation+`","points":1,"domains":[{"name":"`+domain+`","addresses":1,"tally":{"valid":1}}]}`,
		http.Header{"X-Edge-Secret": {origintest.EdgeSecret}})
	return response.StatusCode, body
}

// requireReady waits until /readyz has a status.
func (s *instance) requireReady(t *testing.T, want int) {
	t.Helper()
	require.Eventually(t, func() bool {
		status, _, err := s.get("", "/readyz")
		return err == nil && status == want
	}, hung, 20*time.Millisecond)
}

// A resolver that denies everything: with --dns-strict, lookups fail and cost nothing,
// for workers too, and /readyz is 503 until the resolver recovers.
func TestLyingResolverWithStrict(t *testing.T) {
	t.Parallel()
	server := mxtest.New(t, knownZone)
	server.RespondAll(deny)
	s := start(t, "--dns", server.Addr, "--dns-strict", "--edge-secret", origintest.EdgeSecret)
	key := s.newKey(t)
	s.requireReady(t, http.StatusServiceUnavailable)
	s.requireStatus(t, http.StatusServiceUnavailable, "/readyz", "", "--dns-strict")
	s.requireStatus(t, http.StatusOK, "/healthz", "", "")
	s.requireStatus(t, http.StatusServiceUnavailable, "/v1/email/a@gmail.com", key, "REQUEST_CANCELLED")
	_, body := s.send(t, http.MethodPost, "/v1/emails", key, `{"emails":["a@mail.example","jane@","b@[192.0.2.1]"]}`, nil)
	require.Contains(t, body, `"error":{"code":"DNS_FAILURE","message":"DNS lookup failed for domain mail.example"`)
	require.NotContains(t, body, `"domain":"mail.example"`)
	status, body := s.admit(t, key, "gmail.com", "batch")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `{"mx":["DNS_FAILURE"],"partial":false}`)
	status, body = s.admit(t, key, "gmail.com", "single")
	require.Equal(t, http.StatusServiceUnavailable, status, body)
	require.Equal(t, 1.0, s.metric(t, "addrspec_mx_resolvers_lying"))
	// The watcher logs it after lookups know of it.
	require.Eventually(t, func() bool {
		return s.log.Contains(server.Addr + " denies the MX records of every domain of --dns-with-mx")
	}, hung, 20*time.Millisecond)

	server.RespondAll(mxtest.Answer)
	s.requireReady(t, http.StatusOK)
	require.Eventually(t, func() bool { // a failure is cached for 2 s
		status, body, err := s.get(key, "/v1/email/a@gmail.com")
		return err == nil && status == http.StatusOK && strings.Contains(body, `"mx":true`)
	}, hung, 20*time.Millisecond)
	s.requireStatus(t, http.StatusOK, "/v1/email/a@web.example", key, `"mx":false`)
	require.Zero(t, s.metric(t, "addrspec_mx_resolvers_lying"))
}

// Without --dns-strict, the log and a metric report it, and responses do not change.
func TestLyingResolverWithoutStrict(t *testing.T) {
	t.Parallel()
	for flag, lying := range map[string]bool{"--dns-timeout=1m": true, "--dns-with-mx=none": false, "--dns-with-mx=mail.example": false} {
		server := mxtest.New(t, strings.ReplaceAll(knownZone, "gmail.com", "else.example"))
		s := start(t, "--dns", server.Addr, flag)
		key := s.newKey(t)
		if lying {
			require.Eventually(t, func() bool { return s.log.Contains("a resolver lies") }, hung, 20*time.Millisecond)
			require.Equal(t, 1.0, s.metric(t, "addrspec_mx_resolvers_lying"))
		}
		s.requireStatus(t, http.StatusOK, "/v1/email/a@gmail.com", key, `"mx":false`)
		s.requireStatus(t, http.StatusOK, "/v1/email/a@mail.example", key, `"mx":true`)
		s.requireStatus(t, http.StatusOK, "/readyz", "", "ready")
		require.Equal(t, lying, strings.Contains(s.wholeLog(t), "a resolver lies"), flag)
	}
}

// A resolver that does not reply lies as little as one that fails: with --dns-strict,
// its lookups fail as ever, and the service is ready.
func TestSilentResolverWithStrict(t *testing.T) {
	t.Parallel()
	server := mxtest.New(t, knownZone)
	for _, name := range []string{"gmail.com", "outlook.com", "yahoo.com"} {
		server.Respond(name, mxtest.ServFail)
	}
	s := start(t, "--dns", server.Addr, "--dns-strict")
	key := s.newKey(t)
	require.Eventually(t, func() bool {
		status, body, err := s.get(key, "/v1/email/a@web.example")
		return err == nil && status == http.StatusOK && strings.Contains(body, `"mx":false`)
	}, hung, 20*time.Millisecond)
	s.requireStatus(t, http.StatusOK, "/readyz", "", "ready")
	s.requireStatus(t, http.StatusServiceUnavailable, "/v1/email/a@gmail.com", key, "REQUEST_CANCELLED")
	require.Zero(t, s.metric(t, "addrspec_mx_resolvers_lying"))
}

// check says at its end that a resolver lies, in every form of the summary.
func TestCheckWithALyingResolver(t *testing.T) {
	t.Parallel()
	server := mxtest.New(t, "mail.example. 300 IN MX 10 mx.mail.example.\n")
	const warning = " denies the MX records of every domain of --dns-with-mx"
	check := func(args ...string) (out, problem string) {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), checkArgs(t, append([]string{"--dns", server.Addr, "--to", "ndjson"}, args...)...), streams{strings.NewReader("a@gmail.com\n"), &stdout, &stderr})
		require.Zero(t, code, stderr.String())
		require.Contains(t, stdout.String(), `"mx":false`)
		return stdout.String(), stderr.String()
	}
	_, problem := check("-")
	require.Regexp(t, `(?m)^Do not trust the results of MX lookups: .*`+server.Addr+regexp.QuoteMeta(warning), problem)
	_, problem = check("a@gmail.com")
	require.Regexp(t, `^Do not trust`, problem)
	_, problem = check("--summary", "json", "-")
	var summary struct{ Warning string }
	require.NoError(t, json.Unmarshal([]byte(problem), &summary), problem)
	require.Contains(t, summary.Warning, server.Addr+warning)
	for _, args := range [][]string{{"--quiet", "-"}, {"--summary", "none", "-"}, {"--dns-with-mx", "none", "a@gmail.com"}, {"--dns-with-mx", "mail.example", "a@gmail.com"}} {
		_, problem = check(args...)
		require.Empty(t, problem, args)
	}
	_, problem = check("--dns-with-mx", "none", "--summary", "json", "-")
	require.Contains(t, problem, `"warning":null`)
}
