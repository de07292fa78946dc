package command

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// An operator creates, changes, lists, suspends and deletes accounts while the service runs on
// the same database. What is refused from then on is refused at once.
func TestAccountLifeCommands(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	on := &shell{t, s.database}
	require.Contains(t, on.must("account create --email You@Example.org --points 5 --rate unlimited"),
		"5 points a month, a hard limit")
	on.must("account create --email other@example.org")
	key := lastWord(on.must("key create --account you@example.org --name laptop"))
	requirePost := func(want int, emails ...string) {
		t.Helper()
		status, _, err := s.post(key, emails)
		require.NoError(t, err)
		require.Equal(t, want, status)
	}
	awaitPost := func(emails ...string) { // a view that refuses may be 50 ms old
		t.Helper()
		require.Eventually(t, func() bool {
			status, _, err := s.post(key, emails)
			return err == nil && status == 200
		}, hung, 10*time.Millisecond)
	}
	requirePost(200, "a@mail.example", "b@mail.example")
	requirePost(402, "1", "2", "3", "4")
	require.Contains(t, on.must("account change --account you@example.org --plan enterprise"), "unlimited points")
	awaitPost("1", "2", "3", "4")
	require.Regexp(t, `(?m)^\d+,you@example.org,enterprise,unlimited,unlimited,false,6,\d{4}-`,
		on.must("account list --to csv"))
	// points, requests, errors and facts; a refused request is there within a second
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		assert.Regexp(t, `(?m)^\d+,you@example.org,\d{4}-\d\d-\d\d,\d+,laptop,6,\d+,[1-9]\d*,2,4,0,0,0,0,0,0,0$`,
			on.must("usage --account you@example.org --to csv"))
	}, hung, 100*time.Millisecond)

	require.Contains(t, on.must("account suspend --account you@example.org"), "suspended")
	requirePost(401, "x")
	require.Contains(t, on.must("key create --account you@example.org --name n"),
		"refused until account resume; store its secret")
	found := on.rows("account list --search YOU@")
	require.Len(t, found, 1)
	require.NotEqual(t, "-", found[0][8])
	require.Contains(t, on.must("account resume --account you@example.org"), "resumed")
	awaitPost("x")

	ask := func(reply string) (out, asked string, code int) {
		return runOn(t.Context(), strings.NewReader(reply), "account", "delete", "--account", "you@example.org",
			"--database", s.database)
	}
	for _, reply := range []string{"", "yes\n", "other@example.org\n", strings.Repeat("x", 5000)} {
		out, asked, code := ask(reply)
		require.Equal(t, 1, code, "%q: %s", reply, out)
		require.Contains(t, asked, "nothing was deleted")
	}
	out, asked, code := ask(" You@Example.org \n")
	require.Zero(t, code, asked)
	require.Contains(t, asked, "Type its email")
	require.Contains(t, out, "deleted")
	requirePost(401, "x")
	on.refused("account delete --account you@example.org --yes", "account list")
	on.must("account delete --account other@example.org --yes")
	require.Empty(t, on.rows("account list"))
}

// account change leaves what is not given, unless there is a new plan. --email, the flag of
// earlier releases, still names the account to create.
func TestAccountChange(t *testing.T) {
	s := newShell(t)
	t.Setenv("ADDRSPEC_EMAIL", "a@example.org")
	s.must("account create --plan pro --points 100 --rate 7 --overage")
	for _, c := range []struct{ flags, want string }{
		{"--rate 8", "plan pro, 8 requests/s, 100 points a month and more (overage)"},
		{"--points 50", "plan pro, 8 requests/s, 50 points a month, a hard limit"},
		{"--overage", "plan pro, 8 requests/s, 50 points a month and more (overage)"},
		{"--no-overage", "plan pro, 8 requests/s, 50 points a month, a hard limit"},
		{"--plan free --rate 3", "plan free, 3 requests/s, 1,000 points a month, a hard limit"},
		{"--plan free", "plan free, 1 request/s, 1,000 points a month, a hard limit"},
		{"--operator --rate 2", "plan free, 2 requests/s"},
		{"--points 1 --rate 1", " 1 request/s, 1 point a month, a hard limit"},
		{"--points 0", " 0 points a month, a hard limit"},
	} {
		require.Contains(t, s.must("account change --account a@example.org "+c.flags), c.want, c.flags)
	}
	require.Contains(t, s.must("key create --account a@example.org --name n --budget 1 --rate 1"),
		", 1 point a month, 1 request/s")
}

// The command line gives operator rights without a change of terms, resets the factors of an
// owner who has lost them, and ends sessions.
func TestAccountRightsAndFactors(t *testing.T) {
	t.Parallel()
	s := &shell{t, "sqlite:" + filepath.Join(t.TempDir(), "a.db")}
	withApp(t, s.database, "you@example.org")
	l := ledgertest.Open(t, s.database)
	i := identity.New(l)
	read := func() identity.User {
		user, err := i.User(t.Context(), 1)
		require.NoError(t, err)
		return user
	}
	require.Contains(t, s.must("account change --account you@example.org --plan pro"), "plan pro")
	require.Contains(t, s.must("account change --account you@example.org --operator"), "may now manage all accounts")
	require.Contains(t, s.must("account list"), "pro", "the terms are as they were")
	require.True(t, read().Operator)
	s.must("account change --account you@example.org --no-operator")
	require.False(t, read().Operator)

	require.NotContains(t, s.must("account link --account you@example.org"), "signed up for")
	require.True(t, read().TOTP, "a link alone resets nothing")
	require.Contains(t, s.must("account link --account you@example.org --reset-factors"), "are removed")
	require.False(t, read().TOTP)
	_, err := i.SignIn(t.Context(), identity.User{Account: 1}, "", "curl", true)
	require.NoError(t, err)
	require.Contains(t, s.must("account sign-out --account you@example.org"), "signed out everywhere")
	sessions, err := i.Sessions(t.Context(), 1)
	require.NoError(t, err)
	require.Empty(t, sessions)

	_, err = i.SignUp(t.Context(), "b@example.org", "correct horse battery")
	require.NoError(t, err)
	out := s.must("account link --account b@example.org")
	require.Contains(t, out, "The account was signed up for, and nothing shows by whom.")
	_, _, err = i.UseLink(t.Context(), strings.TrimSpace(out[strings.LastIndex(out, "/")+1:]))
	require.NoError(t, err)
	require.NotContains(t, s.must("account link --account b@example.org"), "signed up for")
}

// A key is created with terms, changed, rotated and revoked by commands, beside the service.
func TestKeyCommands(t *testing.T) {
	t.Parallel()
	s := start(t)
	on := &shell{t, s.database}
	on.must("account create --email you@example.org --plan enterprise")
	old := lastWord(on.must("key create --account you@example.org --name shop --expires 90d --budget 500 --rate 2 --origin HTTPS://Shop.Example/ --origin http://localhost:3000"))
	page := http.Header{"Origin": {"https://shop.example"}}
	status := func(secret string, more http.Header) int {
		response, _ := s.send(t, http.MethodGet, "/v1/usage", secret, "", more)
		return response.StatusCode
	}
	require.Equal(t, []int{200, 401}, []int{status(old, page), status(old, nil)})
	row := on.rows("key list --account you@example.org")[0]
	require.Equal(t, []string{"1", "shop", old[:8], "active"}, row[:4])
	require.Equal(t, []string{"500", "0", "2", "https://shop.example http://localhost:3000", "-", "false"}, row[7:])

	out := on.must("key change --account you@example.org 1 --name store --expires never --budget none --rate none --origin none")
	require.Equal(t, "key 1 changed: store\n", out)
	s.awaitStatus(t, 200, "/v1/usage", old, "")
	require.Contains(t, on.must("key change --account you@example.org 1 --budget 7"), "7 points a month")
	require.Regexp(t, "expires .*2199.*, 7 points",
		on.must("key change --account you@example.org 1 --expires 2199-01-31"), "the budget remains")

	out = on.must("key rotate --account you@example.org 1")
	fresh := lastWord(out)
	require.Contains(t, out, "the old secret is valid until")
	list := on.must("key list --account you@example.org")
	require.Contains(t, list, "old secret until")
	require.NotContains(t, list, fresh)
	require.Equal(t, []int{200, 200}, []int{status(old, nil), status(fresh, nil)})
	last := lastWord(on.must("key rotate --grace=0s --account=you@example.org 1"))
	require.Equal(t, []int{401, 401, 200}, []int{status(old, nil), status(fresh, nil), status(last, nil)})

	on.must("key revoke --account you@example.org", "--", "1")
	require.Equal(t, 401, status(last, nil))
	require.Empty(t, on.rows("key list --account you@example.org"))
	require.Contains(t, on.rows("key list --account you@example.org --all")[0][3], "revoked ")
	var actions []string
	for _, line := range on.rows("account log --account you@example.org") {
		actions = append(actions, strings.Join(line[1:], " "))
	}
	require.Equal(t, []string{"shell key.revoke 1 store", "shell key.rotate 1 store", "shell key.rotate 1 store", "shell key.change 1 store",
		"shell key.change 1 store", "shell key.change 1 store (was shop)", "shell key.create 1 shop", "shell account.create plan enterprise"}, actions)
}

// A test key is created by a command, listed as one, and remains one when it is rotated.
func TestTestKeyCommands(t *testing.T) {
	t.Parallel()
	s := start(t)
	on := &shell{t, s.database}
	on.must("account create --email you@example.org")
	out := on.must("key create --account you@example.org --name suite --test")
	require.Contains(t, out, "key 1 created, for tests; store its secret")
	const disposable = "/v1/email/disposable@addrspec.test"
	s.requireStatus(t, 200, disposable, lastWord(out), `"disposable":true`)
	fresh := lastWord(on.must("key rotate --account you@example.org 1 --grace 0s"))
	s.requireStatus(t, 401, disposable, lastWord(out), "")
	s.requireStatus(t, 200, disposable, fresh, `"disposable":true`)
	row := on.rows("key list --account you@example.org")[0]
	require.Equal(t, []string{"1", "suite", fresh[:8], "active"}, row[:4])
	require.Equal(t, []string{"-", "true"}, row[len(row)-2:])
	require.Equal(t, "-", row[5], "its use is not counted")
}

// A wrong value is an error about the value, and changes nothing.
func TestCommandErrors(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.must("key create --account you@example.org --name n")
	const number, key = "must be a whole number", "key create --account you@example.org --name n "
	for line, message := range map[string]string{
		"account create --email nobody":                                "@",
		"account create --email a@example.org --plan gold":             "enterprise, free, pro",
		"account create --email a@example.org --points many":           "unlimited",
		"account create --email a@example.org --points=-5":             number,
		"account create --email a@example.org --points -5":             `perhaps try --points="-5"?`,
		"account create --email a@example.org --points 1e3":            number,
		"account create --email a@example.org --points 99999999999999": "1000000000000",
		"account create --email a@example.org --rate=-1":               number,
		"account create --email a@example.org --rate 0":                "rate 0",
		"account create --email a@example.org --rate 1000001":          "1000000",
		"account create": "--account",
		"account change --account you@example.org":                  "nothing to change",
		"account change --account you@example.org --points=-1":      number,
		"account suspend --account a@b.test":                        "account list",
		"account log --account a@b.test":                            "account list",
		"key create --account a@example.org --name n":               "account list",
		key + "--expires soon":                                      "a number of days such as 90d",
		key + "--expires 0d":                                        "1d to 36500d",
		key + "--expires 90dd":                                      "1d to 36500d",
		key + "--expires 2020-01-31":                                "is over",
		key + "--expires 2300-01-31":                                "by the year 2200",
		key + "--budget unlimited":                                  "leave it out",
		key + "--budget=-2":                                         number,
		key + "--rate 0":                                            "the rate 0",
		key + "--rate=-2":                                           number,
		key + "--origin null":                                       "null is the origin of every sandboxed page",
		key + "--origin http://a.test":                              "http is for localhost only",
		key + "--origin https://*.test":                             "no wildcards",
		key + "--policy p":                                          `the account has no policy "p"`,
		"key change 1 --account you@example.org":                    "nothing to change",
		"key change 1 --account you@example.org --budget unlimited": "or none",
		"key change 1 --account you@example.org --budget=-2":        number,
		"key change 2 --account you@example.org --name n":           "no such key",
		"key rotate 1 --account you@example.org --grace 169h":       "outside 0 to 168h",
		"key rotate 1 --account you@example.org --grace=-.5h":       "0 to 168h",
		"key rotate 1 --account you@example.org --grace 5":          "expected duration",
		"key revoke 2 --account you@example.org":                    "no such key",
		"key revoke --account you@example.org seven":                "seven",
		"key revoke --account you@example.org -5":                   "-5",
		"usage --first yesterday":                                   "2026-11-20",
		"usage --first=-1":                                          "2026-11-20",
		"usage --first 2026-11-20 --last 2026-11-19":                "the last day 2026-11-19 is before the first",
		"plan load no-such-file":                                    "no-such-file",
		"doctor --dns-timeout=-5s":                                  "--dns-timeout -5s: must be from 10ms",
		"serve --max-connections 1e3":                               "expected a valid 64 bit int",
		"serve --body-memory=-64MiB":                                "is not a size",
	} {
		s.refused(line, message)
	}
	require.Equal(t, 1, s.refused("account create --email nobody", "@"))
	require.Equal(t, 2, s.refused("account create --email a@example.org --points 1e3", number))
	s.refused("key revoke --account you@example.org", "no such key", "--", "-5")
	require.Len(t, s.rows("account list"), 1)
	require.Len(t, s.rows("key list --account you@example.org"), 1)
}

func TestVersions(t *testing.T) {
	t.Parallel()
	on, release := &shell{TB: t}, service.Version()
	require.Contains(t, on.must("--version"), release)
	require.Regexp(t, "^"+regexp.QuoteMeta(release)+`\nengine \S+\nlists \S+\nmodel \S+\nunicode \d+\.0\.0\n$`,
		on.must("version --cache-dir "+moduletest.CacheDir()))
}

func (s *shell) policy(args ...string) (out, err string, code int) {
	args = append(args, "--account", "you@example.org")
	if args[0] == "set" {
		args = withModule(s, args...)
	}
	return s.run("policy "+args[0], args[1:]...)
}

func TestPolicyCommands(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	ok := func(args ...string) string {
		t.Helper()
		out, err, code := s.policy(args...)
		require.Zero(t, code, err)
		return out
	}
	const document = "{\n  \"block\": {\"reasons\": [\"disposable\", \"gibberish>=0.8\"]}\n}\n"
	file := fileOf(t, "policy.json", document)
	require.Equal(t, "policy sign-up set, version 1\n", ok("set", "sign-up", file))
	require.Equal(t, "policy sign-up unchanged, version 1\n", ok("set", "sign-up", file))
	require.Equal(t, document, ok("show", "sign-up"))
	require.Equal(t, "policy other set, version 2\n", ok("set", "other", fileOf(t, "other.json", `{}`)))
	require.Equal(t, "{}\n", ok("show", "other"))
	shown := strings.Join(strings.Fields(ok("show", "sign-up", "--to", "json")), "")
	require.Regexp(t, `^\{"name":"sign-up","version":1,"changed":"[^"]+","document":`, shown)
	require.Contains(t, shown, `"block":{"reasons":["disposable","gibberish>=0.8"]}`)
	require.Regexp(t, `^NAME +VERSION +CHANGED +BYTES\nother +2 +\S+Z +2\nsign-up +1 +\S+Z +\d+\n$`, ok("list"))
	require.Contains(t, ok("list", "--to", "ndjson"), `"name":"other","version":2,"changed":"`)

	require.Contains(t, s.must("key create --account you@example.org --name shop --policy sign-up"), "created, policy sign-up")
	require.Regexp(t, `shop .* sign-up +false\n`, s.must("key list --account you@example.org"))
	_, problem, code := s.policy("delete", "sign-up")
	require.Equal(t, 1, code)
	require.Contains(t, problem, "key 1: the policy is the default of a key; give the key another one first")
	require.Contains(t, s.must("key change 1 --account you@example.org --policy other"), "policy other")
	require.Equal(t, "policy sign-up deleted\n", ok("delete", "sign-up"))
	require.Contains(t, s.must("key change 1 --account you@example.org --budget 5"), "policy other", "other changes leave it")
	require.NotContains(t, s.must("key change 1 --account you@example.org --policy none"), "policy")
	ok("delete", "other")
	require.Equal(t, "NAME  VERSION  CHANGED  BYTES\n", ok("list"))
}

// Errors name the file, the line and the place in the document; what was stored remains.
func TestPolicyErrors(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.json")
	for document, want := range map[string]string{
		"{\n\"block\": {\n\"reasons\": [\"public\", \"disposible\"]\n}\n}": file + ":3:23: block.reasons[1]: ",
		"":                           file + ":1:1: ",
		strings.Repeat("[", 100_000): file + ":1:",
		strings.Repeat(" ", check.MaxPolicyFile+1): "has more than",
	} {
		require.NoError(t, os.WriteFile(file, []byte(document), 0o600))
		_, problem, code := s.policy("set", "p", file)
		require.Equal(t, 1, code, want)
		require.Contains(t, problem, want)
		require.Less(t, len(problem), 500, want)
	}
	for args, want := range map[string]string{
		"set Odd " + file:                  "the name of a policy must have 1 to 64",
		"set p " + filepath.Join(dir, "x"): "no such file",
		"set p " + dir:                     "is a directory",
		"show p":                           "the account has no such policy; see addrspec policy list",
		"delete p":                         "the account has no such policy; see addrspec policy list",
	} {
		_, problem, code := s.policy(strings.Fields(args)...)
		require.Equal(t, 1, code, args)
		require.Contains(t, problem, want, args)
	}
	out, _, _ := s.policy("list")
	require.Equal(t, "NAME  VERSION  CHANGED  BYTES\n", out)
}
