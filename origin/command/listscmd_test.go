package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/lists/feed/store"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// An operator makes a key, publishes a feed, updates from it, and looks at what
// came.
func TestListsFromKeyToShow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret, public := filepath.Join(dir, "lists.key"), filepath.Join(dir, "lists.pub")
	out, problem, code := operator(t, "lists", "keygen", secret, "--no-password")
	require.Zero(t, code, problem)
	info, err := os.Stat(secret)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	words := strings.Fields(out)
	key := words[len(words)-1]

	directory := filepath.Join(dir, "feed")
	published, err := exec.Command("go", "run", "github.com/addrspec/addrspec/lists/publish",
		"-key", secret, "-blob", "../../lists/lists.blob", "-feed", directory, "-expires", "10d").CombinedOutput()
	require.NoError(t, err, string(published))
	require.Contains(t, string(published), "--lists-key "+key)

	file := filepath.Join(dir, "lists.blob")
	_, problem, code = operator(t, "lists", "update", "--from", directory, "--lists-key", public, "--lists", file)
	require.Zero(t, code, problem)
	out, problem, code = operator(t, "lists", "verify", file, "--lists-key", key)
	require.Zero(t, code, problem)
	require.Contains(t, out, feed.DescribeBuiltIn().Version)

	out, problem, code = operator(t, "lists", "show", "--lists", file, "--lists-key", public)
	require.Zero(t, code, problem)
	require.Regexp(t, `(?m)^signature +valid$`, out)
	require.Regexp(t, `(?m)^disposable +\d+,\d{3}$`, out)
	require.Regexp(t, `(?m)^npm:fakefilter +0\.1\.\d+ +BSD-3-Clause +20\d\d-\d\d-\d\d +\d+$`, out)
	out, problem, code = operator(t, "lists", "show", "--lists", file, "--lists-key", public, "--to", "json")
	require.Zero(t, code, problem)
	var shown struct {
		Version, Signature string
		Signed, Expires    time.Time
		Age                int `json:"age_days"`
		Counts             map[string]int
	}
	require.NoError(t, json.Unmarshal([]byte(out), &shown))
	require.Equal(t, feed.DescribeBuiltIn().Version, shown.Version)
	require.Equal(t, 10*24*time.Hour, shown.Expires.Sub(shown.Signed))
	require.Equal(t, feed.DescribeBuiltIn().Counts, shown.Counts)

	// The module as it is built runs the lists.
	out, problem, code = operator(t, "version", "--lists", file, "--lists-key", key, "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir())
	require.Zero(t, code, problem)
	require.Contains(t, out, "lists "+shown.Version)
	require.Regexp(t, `(?m)^engine \d`, out)
	require.NotContains(t, out, "unicode", "a module does not name its version")

	_, problem, code = operator(t, "lists", "keygen", secret, "--no-password")
	require.Equal(t, 1, code)
	require.Contains(t, problem, "exists already")
}

// show describes lists whatever the state of their signature is.
func TestListsShowSignature(t *testing.T) {
	t.Parallel()
	dir, secret := t.TempDir(), feedtest.Key(t)
	file := filepath.Join(dir, feed.BlobName)
	release := feedtest.Sign(t, secret, ownLists(t), time.Now())
	expired := feedtest.Sign(t, secret, ownLists(t), time.Now().AddDate(0, 0, -31))
	show := func(args ...string) string {
		out, problem, code := operator(t, append([]string{"lists", "show"}, args...)...)
		require.Zero(t, code, problem)
		return out
	}
	require.Contains(t, show(), "none: built into the program")
	feedtest.Write(t, dir, release.Blob, release.Text)
	require.Contains(t, show("--lists", file), "not verified: give --lists-key")
	require.Contains(t, show("--lists", file, "--lists-key", feedtest.Key(t).Public().String()), "wrong: the signature was made with the key")
	feedtest.Write(t, dir, feedtest.Dated(release.Blob, "2099.01.01"), release.Text)
	require.Contains(t, show("--lists", file), "wrong: it is for the lists "+release.Version)
	feedtest.Write(t, dir, expired.Blob, expired.Text)
	require.Regexp(t, `signature +expired`, show("--lists", file, "--lists-key", secret.Public().String()))
	_, problem, code := operator(t, "lists", "verify", file, "--lists-key", secret.Public().String())
	require.Equal(t, 1, code)
	require.Contains(t, problem, "expired on")
	require.NoError(t, os.Remove(file+feed.Suffix))
	require.Regexp(t, `signature +none`, show("--lists", file))
	require.NoError(t, os.Truncate(file, 100))
	_, problem, code = operator(t, "lists", "show", "--lists", file)
	require.Equal(t, 1, code)
	require.Contains(t, problem, "damaged")
}

// Wrong command lines get exit code 2 and a sentence without a key in it.
func TestListsUsageErrors(t *testing.T) {
	t.Parallel()
	secret := feedtest.Key(t)
	text, err := secret.File("")
	require.NoError(t, err)
	secretLine := strings.Split(string(text), "\n")[1]
	key := secret.Public().String()
	for args, words := range map[string]string{
		"lists update --from x --lists y":                               "keygen",
		"lists verify y":                                                "keygen",
		"lists update --from x --lists-key " + key:                      "--lists is missing",
		"lists update --from ftp://x/ --lists y --lists-key " + key:     "--from must be the http or https URL",
		"lists verify y --lists-key none.pub":                           "neither a public key",
		"lists verify y --lists-key " + secretLine:                      "this is a secret key",
		"lists verify y --lists-key listscmd_test.go":                   "not a public key",
		"lists keygen x.pub":                                            "must not end in .pub",
		"serve --lists-url https://lists.example/":                      "--lists-url needs a key",
		"serve --lists-url https://a:hunter2@x/ --lists-key " + key:     "without user",
		"serve --lists-url lists.example --lists-key " + key:            "--lists-url: must be",
		"serve --lists-interval 1ms":                                    "--lists-interval 1ms: must be from 1s",
		"serve --lists-interval 300h":                                   "--lists-interval 300h0m0s: must be from",
		"serve --lists-key " + secretLine + " --database sqlite:/none/": "this is a secret key",
	} {
		_, problem, code := operator(t, strings.Fields(args)...)
		require.Equal(t, 2, code, "%s: %s", args, problem)
		require.Contains(t, problem, words, args)
		require.NotContains(t, problem, secretLine)
		require.NotContains(t, problem, "hunter2")
	}
	_, problem, code := operator(t, "lists", "keygen", filepath.Join(t.TempDir(), "x.key"))
	require.Equal(t, 1, code, "standard input has no password")
	require.Contains(t, problem, "--no-password")
}

// doctor checks the signature of the file and the feed.
func TestDoctorChecksLists(t *testing.T) {
	t.Parallel()
	f, dns := newFeed(t), contract.Serve(t)
	f.publish(t, todaysLists(t))
	doctor := func(more ...string) (string, int) {
		out, _, code := operator(t, append([]string{"doctor", "--database", emptyLedger(t), "--dns", dns, "--dns-with-mx", "mail.example", "--dns-without-mx", "missing.example", "--max-connections", "100",
			"--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir()}, more...)...)
		return out, code
	}
	out, code := doctor("--lists", f.file.Path, "--lists-key", f.key(), "--lists-url", f.URL)
	require.Zero(t, code, out)
	require.Regexp(t, `(?m)^lists +ok .*signed, valid for 29 days`, out)
	require.Regexp(t, `(?m)^feed +ok .*valid for 29 days`, out)

	old := feedtest.Dated(ownLists(t), time.Now().UTC().AddDate(0, 0, -20).Format("2006.01.02"))
	release := feedtest.Sign(t, f.secret, old, time.Now())
	feedtest.Write(t, filepath.Dir(f.file.Path), release.Blob, release.Text)
	out, code = doctor("--lists", f.file.Path, "--lists-key", f.key())
	require.Zero(t, code, "advice is no failure: %s", out)
	strict, code := doctor("--lists", f.file.Path, "--lists-key", f.key(), "--strict")
	require.Equal(t, 1, code, strict)
	require.Regexp(t, `(?m)^lists +ADVICE .*20 days old.*addrspec lists update`, out)

	expired := feedtest.Sign(t, f.secret, todaysLists(t), time.Now().AddDate(0, 0, -31))
	feedtest.Write(t, filepath.Dir(f.file.Path), expired.Blob, expired.Text)
	out, code = doctor("--lists", f.file.Path, "--lists-key", f.key(), "--lists-url", f.URL)
	require.Equal(t, 1, code)
	require.Regexp(t, `(?m)^lists +ADVICE .*expired`, out)
	require.Regexp(t, `(?m)^feed +WRONG .*expired`, out)
	out, code = doctor("--lists-url", f.URL)
	require.Equal(t, 1, code)
	require.Regexp(t, `(?m)^feed +WRONG .*needs --lists-key`, out)
}

// A client that updates from a feed reads there what the newest lists changed since those
// that it had, signed with the same key.
func TestFeedSaysWhatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret, directory, file := filepath.Join(dir, "lists.key"), filepath.Join(dir, "feed"), filepath.Join(dir, "lists.blob")
	_, problem, code := operator(t, "lists", "keygen", secret, "--no-password")
	require.Zero(t, code, problem)
	publish := func(blob string) {
		for { // lists that were signed in the same second are refused
			out, err := exec.Command("go", "run", "github.com/addrspec/addrspec/lists/publish", "-key", secret, "-blob", blob, "-feed", directory).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "same second") {
				require.NoError(t, err, string(out))
				return
			}
		}
	}
	update := func() (version string) {
		_, problem, code := operator(t, "lists", "update", "--from", directory, "--lists-key", filepath.Join(dir, "lists.pub"), "--lists", file)
		require.Zero(t, code, problem)
		blob, err := store.ReadBlob(file)
		require.NoError(t, err)
		summary, err := feed.DescribeBlob(blob)
		require.NoError(t, err)
		return summary.Version
	}
	changes := func() *feed.Changes {
		public, err := os.ReadFile(filepath.Join(dir, "lists.pub"))
		require.NoError(t, err)
		key, err := feed.ParsePublicKey(string(public))
		require.NoError(t, err)
		c, err := store.ReadChanges(filepath.Join(directory, feed.ChangesName), key)
		require.NoError(t, err)
		return c
	}
	publish("../../lists/lists.blob")
	first := update()
	require.Equal(t, &feed.Changes{Version: first, Rows: []feed.Change{}}, changes())
	verify := func() (out, problem string, code int) {
		return operator(t, "lists", "verify", filepath.Join(directory, feed.ChangesName), "--lists-key", filepath.Join(dir, "lists.pub"))
	}
	out, problem, code := verify()
	require.Zero(t, code, problem)
	require.Contains(t, out, ": changes of the lists "+first+", before which the feed had none: 0 added, 0 removed\n")

	bulk := filepath.Join(dir, "bulk.blob")
	require.NoError(t, os.WriteFile(bulk, bulkLists(t), 0o600))
	for range 2 { // the second time only to be signed for longer
		publish(bulk)
		second := update()
		c := changes()
		require.Equal(t, []string{first, second}, []string{*c.Since, c.Version})
		require.Equal(t, []feed.Change{{Domain: bulkDomain, Change: feed.WasAdded, Class: "disposable", Subdomains: true,
			Sources: []string{"addrspec/disposable.txt"}, Day: c.Rows[0].Day}}, c.Rows)
		require.Equal(t, strings.ReplaceAll(second[:10], ".", "-"), c.Rows[0].Day)
		out, problem, code := operator(t, withModule(t, "lists", "why", bulkDomain, "--lists", file)...)
		require.Zero(t, code, problem)
		require.Regexp(t, `sources +addrspec/disposable.txt`, out)
	}

	out, problem, code = verify()
	require.Zero(t, code, problem)
	require.Contains(t, out, ": changes of the lists "+changes().Version+" since "+first+": 1 added, 0 removed\n")
	require.NoError(t, os.Truncate(filepath.Join(directory, feed.ChangesName), 100))
	_, problem, code = verify()
	require.Equal(t, 1, code)
	require.Contains(t, problem, "the changes are not those that were signed")
	require.NoError(t, os.Truncate(filepath.Join(directory, feed.ChangesName), feed.MaxChangesSize+1))
	_, problem, code = verify()
	require.Equal(t, 1, code)
	require.Contains(t, problem, "larger than 4096 KiB")
}
