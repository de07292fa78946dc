package command

import (
	"context"
	"encoding/csv"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// A shell runs commands on one database.
type shell struct {
	*testing.T
	database string
}

func newShell(t *testing.T) *shell {
	s := &shell{t, "sqlite:" + filepath.Join(t.TempDir(), "a.db")}
	s.must("account create --email you@example.org --plan enterprise")
	return s
}

func (s *shell) run(line string) (out, err string, code int) {
	return operator(s, append(strings.Fields(line), "--database", s.database)...)
}

func (s *shell) must(line string) string {
	s.Helper()
	out, err, code := s.run(line)
	require.Zero(s, code, "%s: %s", line, err)
	return out
}

// refused runs a command that must fail with a message.
func (s *shell) refused(line, message string) {
	s.Helper()
	out, err, code := s.run(line)
	require.NotZero(s, code, "%s: %s", line, out)
	require.Contains(s, err, message, line)
}

// rows returns the rows of a list after its header.
func (s *shell) rows(line string) [][]string {
	s.Helper()
	rows, err := csv.NewReader(strings.NewReader(s.must(line + " --to csv"))).ReadAll()
	require.NoError(s, err)
	return rows[1:]
}

func lastWord(out string) string {
	words := strings.Fields(out)
	return words[len(words)-1]
}

// A test key is created by a command, listed as one, and remains one when it is rotated. The
// service refuses it once it is revoked or its account suspended.
func TestTestKeyCommands(t *testing.T) {
	t.Parallel()
	s := start(t)
	on := &shell{t, s.database}
	on.must("account create --email you@example.org")
	out := on.must("key create --account you@example.org --name suite --test")
	require.Contains(t, out, "key 1 created, for tests; store its secret")
	status := func(secret string) int {
		r := origintest.Request{Method: http.MethodGet, Target: "/v1/email/disposable@addrspec.test", Header: []string{"X-API-Key: " + secret}}
		response, body := origintest.Exchange(t, s.hostPort, r.Text(s.hostPort), hung)
		require.Equal(t, response.StatusCode == http.StatusOK, strings.Contains(body, `"disposable":true`), body)
		return response.StatusCode
	}
	old := lastWord(out)
	require.Equal(t, http.StatusOK, status(old))
	fresh := lastWord(on.must("key rotate --account you@example.org 1 --grace 0s"))
	require.Equal(t, http.StatusUnauthorized, status(old))
	require.Equal(t, http.StatusOK, status(fresh))
	row := on.rows("key list --account you@example.org")[0]
	require.Equal(t, []string{"1", "suite", fresh[:8], "active"}, row[:4])
	require.Equal(t, []string{"-", "true"}, row[len(row)-2:])
	require.Equal(t, "-", row[5], "its use is not counted")

	on.must("account suspend --account you@example.org")
	require.Equal(t, http.StatusUnauthorized, status(fresh))
	on.must("account resume --account you@example.org")
	require.Eventually(t, func() bool { return status(fresh) == http.StatusOK }, hung, 10*time.Millisecond) // a view that refuses may be 50 ms old
	on.must("key revoke --account you@example.org 1")
	require.Equal(t, http.StatusUnauthorized, status(fresh))
}

// A key is created with terms, changed, rotated and revoked by commands, beside the
// service.
func TestKeyCommands(t *testing.T) {
	t.Parallel()
	s := start(t)
	on := &shell{t, s.database}
	on.must("account create --email you@example.org --plan enterprise")
	old := lastWord(on.must("key create --account you@example.org --name shop --expires 90d --budget 500 --rate 2 --origin HTTPS://Shop.Example/ --origin http://localhost:3000"))
	status := func(secret, origin string) int {
		r, err := http.NewRequest(http.MethodGet, "http://"+s.hostPort+"/v1/usage", nil)
		require.NoError(t, err)
		r.Header.Set("X-API-Key", secret)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	require.Equal(t, 200, status(old, "https://shop.example"))
	require.Equal(t, 401, status(old, ""))
	row := on.rows("key list --account you@example.org")[0]
	require.Equal(t, []string{"1", "shop", old[:8], "active"}, row[:4])
	require.Equal(t, []string{"500", "0", "2", "https://shop.example http://localhost:3000", "-", "false"}, row[7:])

	out := on.must("key change --account you@example.org 1 --name store --expires never --budget none --rate none --origin none")
	require.Equal(t, "key 1 changed: store\n", out)
	require.Eventually(t, func() bool { return status(old, "") == 200 }, hung, 10*time.Millisecond) // a view that refuses may be 50 ms old
	require.Contains(t, on.must("key change --account you@example.org 1 --budget 7"), "7 points a month")
	require.Contains(t, on.must("key change --account you@example.org 1 --expires 2199-01-31"), "expires 31 Jan 2199, 00:00 UTC, 7 points", "the budget remains")

	out = on.must("key rotate --account you@example.org 1")
	fresh := lastWord(out)
	require.Contains(t, out, "the old secret is valid until")
	require.Contains(t, on.must("key list --account you@example.org"), "old secret until")
	require.Equal(t, []int{200, 200}, []int{status(old, ""), status(fresh, "")})
	last := lastWord(on.must("key rotate --account you@example.org 1 --grace 0s"))
	require.Equal(t, []int{401, 401, 200}, []int{status(old, ""), status(fresh, ""), status(last, "")})

	on.must("key revoke --account you@example.org 1")
	require.Equal(t, 401, status(last, ""))
	require.Empty(t, on.rows("key list --account you@example.org"))
	require.Contains(t, on.rows("key list --account you@example.org --all")[0][3], "revoked ")
	var actions []string
	for _, line := range on.rows("account log --account you@example.org") {
		actions = append(actions, strings.Join(line[1:], " "))
	}
	require.Equal(t, []string{"shell key.revoke 1 store", "shell key.rotate 1 store", "shell key.rotate 1 store", "shell key.change 1 store",
		"shell key.change 1 store", "shell key.change 1 store (was shop)", "shell key.create 1 shop", "shell account.create plan enterprise"}, actions)
}

// A key's name, which a user chose, can neither control a terminal nor be a formula,
// also in the log and in the response to a change.
func TestKeyCommandsEscapeNames(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	_, err, code := operator(t, "key", "create", "--account", "you@example.org", "--name", "=1+1", "--database", s.database)
	require.Zero(t, code, err)
	require.Equal(t, "'=1+1", s.rows("key list --account you@example.org")[0][1])
	out, err, code := operator(t, "key", "change", "--account", "you@example.org", "1", "--name", "a\u202eb", "--database", s.database)
	require.NotContains(t, out, "\u202e")
	require.NotContains(t, err, "\u202e")
	require.NotContains(t, s.must("account log --account you@example.org"), "\u202e")
	require.NotZero(t, code, "control characters are refused")
}

func TestAccountLifeCommands(t *testing.T) {
	t.Parallel()
	s := start(t)
	on := &shell{t, s.database}
	on.must("account create --email you@example.org --plan enterprise")
	on.must("account create --email other@example.org")
	key := lastWord(on.must("key create --account you@example.org --name n"))
	status := func() int {
		code, _, err := s.post(key, []string{"not an address"})
		require.NoError(t, err)
		return code
	}
	require.Equal(t, 200, status())
	require.Contains(t, on.must("account suspend --account you@example.org"), "suspended")
	require.Equal(t, 401, status())
	found := on.rows("account list --search YOU@")
	require.Len(t, found, 1)
	require.NotEqual(t, "-", found[0][8])
	require.Contains(t, on.must("account resume --account you@example.org"), "resumed")
	require.Eventually(t, func() bool { return status() == 200 }, hung, 20*time.Millisecond)

	ask := func(reply string) (out, asked string, code int) {
		var stdout, stderr strings.Builder
		code = run(context.Background(), []string{"account", "delete", "--account", "you@example.org", "--database", s.database},
			streams{strings.NewReader(reply), &stdout, &stderr})
		return stdout.String(), stderr.String(), code
	}
	for _, reply := range []string{"", "yes\n", "other@example.org\n", strings.Repeat("x", 5000)} {
		out, asked, code := ask(reply)
		require.Equal(t, 1, code, "%q: %s", reply, out)
		require.Contains(t, asked, "nothing was deleted")
		require.Equal(t, 200, status())
	}
	out, asked, code := ask(" You@Example.org \n")
	require.Zero(t, code, asked)
	require.Contains(t, asked, "Type its email")
	require.Contains(t, out, "deleted")
	require.Equal(t, 401, status())
	on.refused("account delete --account you@example.org --yes", "account list")
	on.must("account delete --account other@example.org --yes")
	require.Empty(t, on.rows("account list"))
}

func TestKeyCommandErrors(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.must("key create --account you@example.org --name n")
	for line, message := range map[string]string{
		"key create --name n --expires soon":          "a number of days such as 90d",
		"key create --name n --expires 0d":            "1d to 36500d",
		"key create --name n --expires 90dd":          "1d to 36500d",
		"key create --name n --expires 2020-01-31":    "is over",
		"key create --name n --expires 2300-01-31":    "by the year 2200",
		"key create --name n --budget unlimited":      "leave it out",
		"key create --name n --rate 0":                "the rate 0",
		"key create --name n --origin null":           "null is the origin of every sandboxed page",
		"key create --name n --origin http://a.test":  "http is for localhost only",
		"key create --name n --origin https://*.test": "no wildcards",
		"key change 1":                       "nothing to change",
		"key change 1 --budget unlimited":    "or none",
		"key change 2 --name n":              "no such key",
		"key rotate 2":                       "no such key",
		"key rotate 1 --grace 169h":          "outside 0 to 168h",
		"key rotate 1 --grace soon":          "soon",
		"key revoke 2":                       "no such key",
		"account suspend --account a@b.test": "account list",
		"account log --account a@b.test":     "account list",
	} {
		if !strings.Contains(line, "--account") {
			line += " --account you@example.org"
		}
		s.refused(line, message)
	}
	require.Len(t, s.rows("key list --account you@example.org"), 1)
}
