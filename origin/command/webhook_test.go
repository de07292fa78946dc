package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// The command sets, shows, rotates, tests and removes a webhook, and its errors say
// what to do.
func TestAccountWebhook(t *testing.T) {
	t.Parallel()
	database := origintest.NewDatabase(t)
	_, _, code := operator(t, "account", "create", "--database", database, "--email", "owner@example.com")
	require.Zero(t, code)
	run := func(flags ...string) (out, err string, code int) {
		return operator(t, append([]string{"account", "webhook", "--database", database, "--account", "owner@example.com"}, flags...)...)
	}
	_, err, code := run()
	require.Equal(t, 1, code)
	require.Contains(t, err, "the account has no webhook; set a URL first")
	_, err, code = run("--set", "https://127.0.0.1/s3cret")
	require.Equal(t, 1, code)
	require.Contains(t, err, "not public")
	require.NotContains(t, err, "s3cret")

	out, _, code := run("--set", "https://hooks.example.com/x")
	require.Zero(t, code)
	secret := out[strings.LastIndexByte(out, ' ')+1:]
	require.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=\n$`, secret)
	out, _, _ = run("--rotate")
	require.Contains(t, out, "whsec_")
	require.NotContains(t, out, secret)
	out, _, _ = run()
	require.Contains(t, out, "https://hooks.example.com/x, set ")
	require.NotContains(t, out, "whsec_")
	_, _, code = run("--remove", "--test")
	require.Equal(t, 2, code, "two flags")
	out, _, _ = run("--remove")
	require.Equal(t, "webhook removed\n", out)
}

// A test message that cannot be sent is a failure that says why. The name is one
// that no resolver has (RFC 2606).
func TestAccountWebhookTest(t *testing.T) {
	t.Parallel()
	database := origintest.NewDatabase(t)
	_, _, code := operator(t, "account", "create", "--database", database, "--email", "owner@example.com")
	require.Zero(t, code)
	run := func(flags ...string) (out, err string, code int) {
		return operator(t, append([]string{"account", "webhook", "--database", database, "--account", "owner@example.com"}, flags...)...)
	}
	_, _, code = run("--set", "https://nowhere.example.com:8443/s3cret")
	require.Zero(t, code)
	_, err, code := run("--test")
	require.Equal(t, 1, code)
	require.Contains(t, err, "the test message was not accepted: failed: ")
	require.NotContains(t, err, "s3cret")
	out, _, _ := run()
	require.Contains(t, out, "failed: ")
	_, err, code = run("--test")
	require.Equal(t, 1, code)
	require.Contains(t, err, "try again in ")
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
