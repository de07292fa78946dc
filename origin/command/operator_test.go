package command

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// operator runs a command and returns its output.
func operator(t testing.TB, args ...string) (out, err string, code int) {
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), args, streams{strings.NewReader(""), &stdout, &stderr})
	return stdout.String(), stderr.String(), code
}

// usageLine matches the points, the requests, the errors and the facts.
var usageLine = regexp.MustCompile(`(?m)^\d+,you@example.org,\d{4}-\d\d-\d\d,\d+,laptop,6,3,1,2,4,0,0,0,0,0,0,0$`)

// An operator creates, changes and lists accounts and keys while the service runs
// on the same database. A key works at once, until it is revoked.
func TestCommandsBesideTheService(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	on := func(args ...string) string {
		out, err, code := operator(t, append(args, "--database", s.database)...)
		require.Zero(t, code, err)
		return out
	}
	require.Contains(t, on("account", "create", "--email", "You@Example.org", "--points", "5", "--rate", "unlimited"), "5 points a month, a hard limit")
	words := strings.Fields(on("key", "create", "--account", "you@example.org", "--name", "laptop"))
	key := words[len(words)-1]
	status, e, err := s.post(key, []string{"a@mail.example", "b@mail.example"})
	require.NoError(t, err)
	require.Equal(t, []int{200, 2}, []int{status, e.Points})
	status, _, _ = s.post(key, []string{"1", "2", "3", "4"})
	require.Equal(t, 402, status)

	require.Contains(t, on("account", "change", "--account", "you@example.org", "--plan", "enterprise"), "unlimited points")
	time.Sleep(60 * time.Millisecond) // real time: a view that refuses may be 50 ms old
	status, _, _ = s.post(key, []string{"1", "2", "3", "4"})
	require.Equal(t, 200, status)
	require.Regexp(t, `(?m)^\d+,you@example.org,enterprise,unlimited,unlimited,false,6,\d{4}-`, on("account", "list", "--to", "csv"))
	require.EventuallyWithT(t, func(t *assert.CollectT) { // a refused request is in the history within a second
		assert.Regexp(t, usageLine, on("usage", "--account", "you@example.org", "--to", "csv"))
	}, hung, 100*time.Millisecond)
	require.Contains(t, on("plan", "list"), "enterprise")

	list := on("key", "list", "--account", "you@example.org")
	require.Contains(t, list, key[:8])
	require.NotContains(t, list, key)
	on("key", "revoke", "--account", "you@example.org", "1")
	status, _, _ = s.post(key, []string{"a@mail.example"})
	require.Equal(t, 401, status)
}

func TestCommandErrors(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	for _, c := range []struct {
		args    string
		code    int
		message string
	}{
		{"account create --email nobody", 1, "@"},
		{"account create --email a@example.org --plan gold", 1, "enterprise, free, pro"},
		{"account create --email a@example.org --points many", 2, "unlimited"},
		{"account create", 2, "--account"},
		{"key create --account a@example.org --name n", 1, "account list"},
		{"key revoke --account a@example.org seven", 2, "seven"},
		{"usage --first yesterday", 2, "2026-11-20"},
		{"usage --first 2026-11-20 --last 2026-11-19", 2, "the last day 2026-11-19 is before the first 2026-11-20"},
		{"plan load no-such-file", 1, "no-such-file"},
	} {
		_, err, code := operator(t, append(strings.Fields(c.args), "--database", database)...)
		require.Equal(t, c.code, code, "%s: %s", c.args, err)
		require.Contains(t, err, c.message, c.args)
	}
}

// account change leaves what is not given, unless there is a new plan.
func TestAccountChange(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.must("account create --account a@example.org --plan pro --points 100 --rate 7 --overage")
	for _, c := range []struct{ flags, want string }{
		{"--rate 8", "plan pro, 8 requests/s, 100 points a month and more (overage)"},
		{"--points 50", "plan pro, 8 requests/s, 50 points a month, a hard limit"},
		{"--overage", "plan pro, 8 requests/s, 50 points a month and more (overage)"},
		{"--no-overage", "plan pro, 8 requests/s, 50 points a month, a hard limit"},
		{"--plan free --rate 3", "plan free, 3 requests/s, 1,000 points a month, a hard limit"},
		{"--plan free", "plan free, 1 request/s, 1,000 points a month, a hard limit"},
		{"--operator --rate 2", "plan free, 2 requests/s"},
	} {
		require.Contains(t, s.must("account change --account a@example.org "+c.flags), c.want, c.flags)
	}
	_, err, code := s.run("account change --account a@example.org")
	require.Equal(t, 2, code)
	require.Contains(t, err, "nothing to change")
	require.Equal(t, "2", s.rows("account list --search a@")[0][3])

	s.must("account suspend --account a@example.org")
	require.Contains(t, s.must("key create --account a@example.org --name n"), "refused until account resume; store its secret")
}
