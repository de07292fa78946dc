package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// The command sets, shows, rotates, tests and removes a webhook, and its errors say
// what to do. A test message that cannot be sent is a failure that says why: no resolver has the
// name (RFC 2606).
func TestAccountWebhook(t *testing.T) {
	t.Parallel()
	database := origintest.NewDatabase(t)
	_, _, code := operator(t, "account", "create", "--database", database, "--email", "owner@example.com")
	require.Zero(t, code)
	run := func(flags ...string) (string, string, int) {
		return operator(t, append([]string{"account", "webhook", "--database", database, "--account", "owner@example.com"}, flags...)...)
	}
	const secret = `whsec_[A-Za-z0-9+/]{43}=\n$`
	for _, c := range []struct {
		flags     string
		code      int
		out, text string // a pattern of the output, and a part of the error
	}{
		{"", 1, "", "the account has no webhook; set a URL first"},
		{"--set https://127.0.0.1/s3cret", 1, "", "not public"},
		{"--set https://nowhere.example.com:8443/s3cret", 0, secret, ""},
		{"--rotate", 0, secret, ""},
		{"--test", 1, "", "the test message was not accepted: failed: "},
		{"--test", 1, "", "try again in "},
		{"", 0, `^https://nowhere\.example\.com:8443/s3cret, set (?s:.*)failed: `, ""},
		{"--remove --test", 2, "", ""},
		{"--remove", 0, "^webhook removed\n$", ""},
	} {
		out, problem, code := run(strings.Fields(c.flags)...)
		require.Equal(t, c.code, code, c.flags)
		require.Regexp(t, c.out, out, c.flags)
		require.Contains(t, problem, c.text, c.flags)
		require.NotContains(t, problem, "s3cret", c.flags)
		if c.out != secret {
			require.NotContains(t, out, "whsec_")
		}
	}
}

// A service has the metrics of webhooks unless they or the dashboard are off.
func TestWebhooksOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags []string
		want  bool
	}{{nil, true}, {[]string{"--webhooks=off"}, false}, {[]string{"--dashboard=off"}, false}} {
		s := start(t, append([]string{"--dns", contract.Serve(t)}, c.flags...)...)
		_, body := s.send(t, "GET", "/metrics", "", "", nil)
		require.Equal(t, c.want, strings.Contains(string(body), "addrspec_webhook_sent_total 0"), c.flags)
	}
}
