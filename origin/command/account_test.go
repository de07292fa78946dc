package command

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
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
	status := func(emails ...string) int {
		status, _, err := s.post(key, emails)
		require.NoError(t, err)
		return status
	}
	require.Equal(t, 200, status("a@mail.example", "b@mail.example"))
	require.Equal(t, 402, status("1", "2", "3", "4"))
	require.Contains(t, on.must("account change --account you@example.org --plan enterprise"), "unlimited points")
	await(t, func() bool { return status("1", "2", "3", "4") == 200 }) // a view that refuses may be 50 ms old
	require.Regexp(t, `(?m)^\d+,you@example.org,enterprise,unlimited,unlimited,false,6,\d{4}-`,
		on.must("account list --to csv"))
	// points, requests, errors and facts; a refused request is there within a second
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		assert.Regexp(t, `(?m)^\d+,you@example.org,\d{4}-\d\d-\d\d,\d+,laptop,6,\d+,[1-9]\d*,2,4,0,0,0,0,0,0,0$`,
			on.must("usage --account you@example.org --to csv"))
	}, hung, 100*time.Millisecond)

	require.Contains(t, on.must("account suspend --account you@example.org"), "suspended")
	require.Equal(t, 401, status("x"))
	require.Contains(t, on.must("key create --account you@example.org --name n"),
		"refused until account resume; store its secret")
	found := on.rows("account list --search YOU@")
	require.Len(t, found, 1)
	require.NotEqual(t, "-", found[0][8])
	require.Contains(t, on.must("account resume --account you@example.org"), "resumed")
	await(t, func() bool { return status("x") == 200 })

	for _, c := range []struct {
		reply string
		code  int
		says  string
	}{{"", 1, "nothing was deleted"}, {"yes\n", 1, "nothing was deleted"}, {strings.Repeat("x", 5000), 1, "nothing was deleted"},
		{" You@Example.org \n", 0, "deleted"}} {
		out, asked, code := runOn(t.Context(), strings.NewReader(c.reply), "account", "delete",
			"--account", "you@example.org", "--database", s.database)
		require.Equal(t, c.code, code, "%q: %s", c.reply, out)
		require.Contains(t, asked, "Type its email")
		require.Contains(t, asked+out, c.says)
	}
	require.Equal(t, 401, status("x"))
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
}

// The command line gives operator rights without a change of terms, resets the factors of an
// owner who has lost them, and ends sessions.
func TestAccountRightsAndFactors(t *testing.T) {
	t.Parallel()
	s := &shell{t, "sqlite:" + filepath.Join(t.TempDir(), "a.db")}
	withApp(t, s.database, "you@example.org")
	i := identity.New(ledgertest.Open(t, s.database))
	read := func() identity.User { return must(i.User(t.Context(), 1))(t) }
	const you = " --account you@example.org "
	require.Contains(t, s.must("account change --plan pro"+you), "plan pro")
	require.Contains(t, s.must("account change --operator"+you), "may now manage all accounts")
	require.Contains(t, s.must("account list"), "pro", "the terms are as they were")
	require.True(t, read().Operator)
	s.must("account change --no-operator" + you)
	require.False(t, read().Operator)

	require.NotContains(t, s.must("account link"+you), "signed up for")
	require.True(t, read().TOTP, "a link alone resets nothing")
	require.Contains(t, s.must("account link --reset-factors"+you), "are removed")
	require.False(t, read().TOTP)
	must(i.SignIn(t.Context(), identity.User{Account: 1}, "", "curl", true))(t)
	require.Contains(t, s.must("account sign-out"+you), "signed out everywhere")
	require.Empty(t, must(i.Sessions(t.Context(), 1))(t))

	must(i.SignUp(t.Context(), "b@example.org", "correct horse battery"))(t)
	out := s.must("account link --account b@example.org")
	require.Contains(t, out, "The account was signed up for, and nothing shows by whom.")
	_, _, err := i.UseLink(t.Context(), strings.TrimSpace(out[strings.LastIndex(out, "/")+1:]))
	require.NoError(t, err)
	require.NotContains(t, s.must("account link --account b@example.org"), "signed up for")
}

// A key is created with terms, changed, rotated and revoked by commands, beside the service.
func TestKeyCommands(t *testing.T) {
	t.Parallel()
	s := start(t)
	on := &shell{t, s.database}
	on.must("account create --email you@example.org --plan enterprise")
	const you = " --account you@example.org "
	old := lastWord(on.must("key create --name shop --expires 90d --budget 500 --rate 2 --origin HTTPS://Shop.Example/ --origin http://localhost:3000" + you))
	requireStatus := func(want int, secret string, more http.Header) {
		t.Helper()
		response, body := s.send(t, http.MethodGet, "/v1/usage", secret, "", more)
		require.Equal(t, want, response.StatusCode, body)
	}
	requireStatus(200, old, http.Header{"Origin": {"https://shop.example"}})
	requireStatus(401, old, nil)
	row := on.rows("key list" + you)[0]
	require.Equal(t, []string{"1", "shop", old[:8], "active"}, row[:4])
	require.Equal(t, []string{"500", "0", "2", "https://shop.example http://localhost:3000", "-", "false"}, row[7:])

	out := on.must("key change 1 --name store --expires never --budget none --rate none --origin none" + you)
	require.Equal(t, "key 1 changed: store\n", out)
	require.Contains(t, on.must("key create --name suite --test"+you), "key 2 created, for tests; store its secret")
	row = on.rows("key list" + you)[0]
	require.Equal(t, []string{"-", "-", "true"}, []string{row[5], row[len(row)-2], row[len(row)-1]}, "its use is not counted")
	on.must("key revoke 2" + you)
	s.awaitStatus(t, 200, "/v1/usage", old, "")
	require.Contains(t, on.must("key change 1 --budget 7"+you), "7 points a month")
	require.Regexp(t, "expires .*2199.*, 7 points", on.must("key change 1 --expires 2199-01-31"+you), "the budget remains")

	out = on.must("key rotate 1" + you)
	fresh := lastWord(out)
	require.Contains(t, out, "the old secret is valid until")
	list := on.must("key list" + you)
	require.Contains(t, list, "old secret until")
	require.NotContains(t, list, fresh)
	requireStatus(200, old, nil)
	requireStatus(200, fresh, nil)
	last := lastWord(on.must("key rotate --grace=0s 1" + you))
	for secret, status := range map[string]int{old: 401, fresh: 401, last: 200} {
		requireStatus(status, secret, nil)
	}
	on.must("key revoke"+you, "--", "1")
	requireStatus(401, last, nil)
	require.Empty(t, on.rows("key list"+you))
	require.Contains(t, on.rows("key list --all" + you)[0][3], "revoked ")
	var actions []string
	for _, line := range on.rows("account log" + you) {
		actions = append(actions, strings.Join(line[1:], " "))
	}
	require.Equal(t, []string{"shell key.revoke 1 store", "shell key.rotate 1 store", "shell key.rotate 1 store", "shell key.change 1 store",
		"shell key.change 1 store", "shell key.revoke 2 suite (test)", "shell key.create 2 suite (test)", "shell key.change 1 store (was shop)", "shell key.create 1 shop", "shell account.create plan enterprise"}, actions)
}

// A wrong value is an error about the value, and changes nothing.
func TestCommandErrors(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.must("key create --account you@example.org --name n")
	const number, account, create = "must be a whole number", "account create --email a@example.org ", "key create --name n "
	const you = " --account you@example.org"
	for line, message := range map[string]string{
		"account create --email nobody":              "@",
		account + "--plan gold":                      "enterprise, free, pro",
		account + "--points many":                    "unlimited",
		account + "--points=-5":                      number,
		account + "--points -5":                      `perhaps try --points="-5"?`,
		account + "--points 1e3":                     number,
		account + "--points 99999999999999":          "1000000000000",
		account + "--rate 0":                         "rate 0",
		account + "--rate 1000001":                   "1000000",
		"account create":                             "--account",
		"account change" + you:                       "nothing to change",
		"account suspend --account a@b.test":         "account list",
		create + "--account a@example.org":           "account list",
		create + "--expires soon" + you:              "a number of days such as 90d",
		create + "--expires 2020-01-31" + you:        "is over",
		create + "--expires 2300-01-31" + you:        "by the year 2200",
		create + "--budget unlimited" + you:          "leave it out",
		create + "--origin null" + you:               "null is the origin of every sandboxed page",
		create + "--policy p" + you:                  `the account has no policy "p"`,
		"key change 1" + you:                         "nothing to change",
		"key change 1 --budget unlimited" + you:      "or none",
		"key change 1 --budget=-2" + you:             number,
		"key change 2 --name n" + you:                "no such key",
		"key rotate 1 --grace 169h" + you:            "outside 0 to 168h",
		"key revoke 2" + you:                         "no such key",
		"key revoke seven" + you:                     "seven",
		"key revoke -5" + you:                        "-5",
		"usage --first yesterday":                    "2026-11-20",
		"usage --first 2026-11-20 --last 2026-11-19": "the last day 2026-11-19 is before the first",
		"plan load no-such-file":                     "no-such-file",
	} {
		s.refused(line, message)
	}
	require.Equal(t, 1, s.refused("account create --email nobody", "@"))
	require.Equal(t, 2, s.refused(account+"--points 1e3", number))
	s.refused("key revoke --account you@example.org", "no such key", "--", "-5")
	require.Len(t, s.rows("account list"), 1)
	require.Len(t, s.rows("key list --account you@example.org"), 1)
}

func (s *shell) policy(line string) (out, err string, code int) {
	args := []string{"--account", "you@example.org"}
	if strings.HasPrefix(line, "set") {
		args = withModule(s, args...)
	}
	return s.run("policy "+line, args...)
}

func TestPolicyCommands(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	ok := func(line string) string {
		t.Helper()
		out, err, code := s.policy(line)
		require.Zero(t, code, err)
		return out
	}
	const document = "{\n  \"block\": {\"reasons\": [\"disposable\", \"gibberish>=0.8\"]}\n}\n"
	set := "set sign-up " + fileOf(t, "policy.json", document)
	require.Equal(t, "policy sign-up set, version 1\n", ok(set))
	require.Equal(t, "policy sign-up unchanged, version 1\n", ok(set))
	require.Equal(t, document, ok("show sign-up"))
	require.Equal(t, "policy other set, version 2\n", ok("set other "+fileOf(t, "other.json", `{}`)))
	require.Equal(t, "{}\n", ok("show other"))
	shown := strings.Join(strings.Fields(ok("show sign-up --to json")), "")
	require.Regexp(t, `^\{"name":"sign-up","version":1,"changed":"[^"]+","document":`, shown)
	require.Contains(t, shown, `"block":{"reasons":["disposable","gibberish>=0.8"]}`)
	require.Regexp(t, `^NAME +VERSION +CHANGED +BYTES\nother +2 +\S+Z +2\nsign-up +1 +\S+Z +\d+\n$`, ok("list"))

	const key = "key change 1 --account you@example.org "
	require.Contains(t, s.must("key create --account you@example.org --name shop --policy sign-up"), "created, policy sign-up")
	require.Regexp(t, `shop .* sign-up +false\n`, s.must("key list --account you@example.org"))
	_, problem, code := s.policy("delete sign-up")
	require.Equal(t, 1, code)
	require.Contains(t, problem, "key 1: the policy is the default of a key; give the key another one first")
	require.Contains(t, s.must(key+"--policy other"), "policy other")
	require.Equal(t, "policy sign-up deleted\n", ok("delete sign-up"))
	require.Contains(t, s.must(key+"--budget 1 --rate 1"), ", 1 point a month, 1 request/s, policy other", "other changes leave it")
	require.NotContains(t, s.must(key+"--policy none"), "policy")
	ok("delete other")
	require.Equal(t, "NAME  VERSION  CHANGED  BYTES\n", ok("list"))
}

// Errors name the file, the line and the place in the document; what was stored remains.
func TestPolicyErrors(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.json")
	for _, c := range []struct{ line, document, want string }{
		{"set p " + file, "{\n\"block\": {\n\"reasons\": [\"public\", \"disposible\"]\n}\n}", file + ":3:23: block.reasons[1]: "},
		{"set p " + file, "", file + ":1:1: "},
		{"set p " + file, strings.Repeat("[", 100_000), file + ":1:"},
		{"set p " + file, strings.Repeat(" ", check.MaxPolicyFile+1), "has more than"},
		{"set Odd " + file, "{}", "the name of a policy must have 1 to 64"},
		{"set p " + dir + "/x", "", "no such file"},
		{"set p " + dir, "", "is a directory"},
		{"show p", "", "the account has no such policy; see addrspec policy list"},
		{"delete p", "", "the account has no such policy; see addrspec policy list"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.document), 0o600))
		_, problem, code := s.policy(c.line)
		require.Equal(t, 1, code, c.want)
		require.Contains(t, problem, c.want)
		require.Less(t, len(problem), 500, c.want)
	}
	out, _, _ := s.policy("list")
	require.Equal(t, "NAME  VERSION  CHANGED  BYTES\n", out)
}

// The command sets, shows, rotates, tests and removes a webhook, and its errors say
// what to do. A test message that cannot be sent is a failure that says why: no resolver has the
// name (RFC 2606).
func TestAccountWebhook(t *testing.T) {
	t.Parallel()
	s := newShell(t)
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
		out, problem, code := s.run("account webhook --account you@example.org " + c.flags)
		require.Equal(t, c.code, code, c.flags)
		require.Regexp(t, c.out, out, c.flags)
		require.Contains(t, problem, c.text, c.flags)
		require.NotContains(t, problem, "s3cret", c.flags)
		require.True(t, c.out == secret || !strings.Contains(out, "whsec_"), out)
	}
}
