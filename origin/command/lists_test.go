package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/wasm/result"
)

// An operator makes a key, signs lists with it, updates from the feed, and looks at what
// came. Older lists are an error, and change nothing. Package publish tests how a feed is
// published, and package update all that is refused.
func TestListsFromKeyToShow(t *testing.T) {
	t.Parallel()
	dir, on := t.TempDir(), &shell{TB: t}
	secret, public, file, feedOf := dir+"/lists.key", dir+"/lists.pub", dir+"/lists.blob", t.TempDir()
	key := lastWord(on.must("lists keygen " + secret + " --no-password"))
	require.Equal(t, os.FileMode(0o600), must(os.Stat(secret))(t).Mode())
	on.refused("lists keygen "+secret+" --no-password", "exists already")
	on.refused("lists keygen "+dir+"/x.key", "--no-password") // standard input has no password
	signer := must(feed.ParseSecretKey([]byte(textOf(t, secret)), nil))(t)
	release := feedtest.Sign(t, signer, ownLists(t), time.Now())
	feedtest.Write(t, feedOf, release.Blob, release.Text)

	version, update := release.Version, "lists update --from "+feedOf+" --lists-key "+public+" --lists "+file
	require.Contains(t, on.must(update+" --dry-run"), "would replace "+version)
	require.NoFileExists(t, file)
	on.must(update)
	require.Contains(t, on.must("lists verify "+file+" --lists-key "+key), version)
	older := feedtest.Sign(t, signer, feedtest.Dated(ownLists(t), "2099.01.01"), release.Signed.Add(-time.Hour))
	feedtest.Write(t, feedOf, older.Blob, older.Text)
	for _, dry := range []string{"", " --dry-run"} {
		require.Equal(t, 1, on.refused(update+dry, "before those in use"))
		on.refused(update+dry, "the lists remain "+version)
	}
	show := "lists show --lists " + file + " --lists-key " + public
	out := on.must(show)
	require.Regexp(t, `(?m)^signature +valid$`, out)
	require.Regexp(t, `(?m)^disposable +\d+,\d{3}$`, out)
	require.Regexp(t, `(?m)^npm:fakefilter +0\.1\.\d+ +BSD-3-Clause +20\d\d-\d\d-\d\d +\d+$`, out)
	var shown struct {
		Version         string
		Signed, Expires time.Time
		Counts          map[string]int
	}
	require.NoError(t, json.Unmarshal([]byte(on.must(show+" --to json")), &shown))
	require.Equal(t, version, shown.Version)
	require.Equal(t, release.Expires.Sub(release.Signed), shown.Expires.Sub(shown.Signed))
	require.Equal(t, feed.DescribeBuiltIn().Counts, shown.Counts)

	// The module as it is built runs the lists.
	out = on.must("version --lists "+file+" --lists-key "+key, withModule(t)...)
	require.Regexp(t, `(?m)^engine \d.*\nlists `+version, out)
	require.NotContains(t, out, "unicode", "a module does not name its version")

	changes, since := dir+"/"+feed.ChangesName, "2026.01.01-00000000"
	for says, before := range map[string]*string{", before which the feed had none: 0 added": nil, " since " + since: &since} {
		text, signature, err := signer.SignChanges(&feed.Changes{Since: before, Version: version})
		require.NoError(t, err)
		replace(t, changes, text)
		replace(t, changes+feed.Suffix, signature)
		require.Contains(t, on.must("lists verify "+changes+" --lists-key "+public), ": changes of the lists "+version+says)
	}
	require.NoError(t, os.Truncate(changes, 20))
	on.refused("lists verify "+changes+" --lists-key "+public, "the changes are not those that were signed")
}

// show describes lists whatever the state of their signature is.
func TestListsShowSignature(t *testing.T) {
	t.Parallel()
	dir, secret, on := t.TempDir(), feedtest.Key(t), &shell{TB: t}
	file, key := filepath.Join(dir, feed.BlobName), " --lists-key "+secret.Public().String()
	release := feedtest.Sign(t, secret, ownLists(t), time.Now())
	expired := feedtest.Sign(t, secret, ownLists(t), time.Now().AddDate(0, 0, -31))
	for _, c := range []struct {
		blob, signature []byte
		flags, says     string
	}{
		{release.Blob, release.Text, "", "not verified: give --lists-key"},
		{release.Blob, release.Text, " --lists-key " + feedtest.Key(t).Public().String(), "wrong: the signature was made with the key"},
		{feedtest.Dated(release.Blob, "2099.01.01"), release.Text, "", "wrong: it is for the lists " + release.Version},
		{expired.Blob, expired.Text, key, "expired"},
	} {
		feedtest.Write(t, dir, c.blob, c.signature)
		require.Regexp(t, `(?m)^signature +`+c.says, on.must("lists show --lists "+file+c.flags))
	}
	on.refused("lists verify "+file+key, "expired on")
	require.NoError(t, os.Remove(file+feed.Suffix))
	require.Regexp(t, `(?m)^signature +none$`, on.must("lists show --lists "+file))
	require.Regexp(t, `(?m)^signature +none: built into the program`, on.must("lists show"))
	require.NoError(t, os.Truncate(file, 100))
	on.refused("lists show --lists "+file, "damaged")
}

// Wrong command lines get exit code 2 and a sentence without a key in it.
func TestListsUsageErrors(t *testing.T) {
	t.Parallel()
	secret, on := feedtest.Key(t), &shell{TB: t}
	text := must(secret.File(""))(t)
	secretLine, key := strings.Split(string(text), "\n")[1], secret.Public().String()
	for args, words := range map[string]string{
		"lists update --from x --lists y":                               "keygen",
		"lists verify y":                                                "keygen",
		"lists update --from x --lists-key " + key:                      "--lists is missing",
		"lists update --from ftp://x/ --lists y --lists-key " + key:     "--from must be the http or https URL",
		"lists verify y --lists-key none.pub":                           "neither a public key",
		"lists verify y --lists-key " + secretLine:                      "this is a secret key",
		"lists verify y --lists-key lists_test.go":                      "not a public key",
		"lists keygen x.pub":                                            "must not end in .pub",
		"lists why":                                                     "domain",
		"serve --lists-url https://lists.example/":                      "--lists-url needs a key",
		"serve --lists-url https://a:hunter2@x/ --lists-key " + key:     "without user",
		"serve --lists-interval 1ms":                                    "--lists-interval 1ms: must be from 1s",
		"serve --lists-key " + secretLine + " --database sqlite:/none/": "this is a secret key",
	} {
		_, problem, code := on.run(args)
		require.Equal(t, 2, code, args)
		require.Contains(t, problem, words, args)
		require.NotContains(t, problem, secretLine)
		require.NotContains(t, problem, "hunter2")
	}
}

// doctor checks the signature of the file and the feed.
func TestDoctorChecksLists(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	f.publish(t, todaysLists(t))
	file, url := "--lists "+f.file.Path+" --lists-key "+f.key(), " --lists-url "+f.URL
	requireFindings(t, file+url, "lists ok .*signed, valid for 29 days;feed ok .*valid for 29 days")
	day := time.Now().UTC().AddDate(0, 0, -20).Format("2006.01.02")
	old := feedtest.Sign(t, f.secret, feedtest.Dated(ownLists(t), day), time.Now())
	feedtest.Write(t, filepath.Dir(f.file.Path), old.Blob, old.Text)
	requireFindings(t, file, "lists ADVICE .*20 days old.*addrspec lists update")
	expired := feedtest.Sign(t, f.secret, todaysLists(t), time.Now().AddDate(0, 0, -31))
	feedtest.Write(t, filepath.Dir(f.file.Path), expired.Blob, expired.Text)
	requireFindings(t, file+url, "lists ADVICE .*expired;feed WRONG .*expired")
	requireFindings(t, url, "feed WRONG .*needs --lists-key")
}

// lists why has the facts of details.provider_evidence, with the lists that the service
// would use.
func TestListsWhyIsTheEvidence(t *testing.T) {
	t.Parallel()
	domains := strings.Fields("yopmail.com a.b.mailinator.com gmail.com mozmail.com x.mozmail.com ibm.com 00jac.com example.org gmial.com " +
		"burner.example a.burner.example münchen.example xn--mnchen-3ya.example a.partner.example users.noreply.github.com d.bulk.example")
	file := fileOf(t, "lists.blob", string(bulkLists(t)))
	rows := fileOf(t, "extra.txt",
		"[disposable]\nburner.example\nmünchen.example\n[known]\n*.partner.example\nyopmail.com\n")
	for _, flags := range [][]string{nil, {"--lists-extra", rows}, {"--lists", file}} {
		out, problem, _ := operator(t, withModule(t, append(append([]string{"lists", "why", "--to", "json"}, flags...), domains...)...)...)
		var reasons []shownReason
		require.NoError(t, json.Unmarshal([]byte(out), &reasons), problem)
		require.Len(t, reasons, len(domains))
		checked, problem, code := runCheck(t, strings.NewReader("jane@"+strings.Join(domains, "\njane@")),
			append([]string{"--details"}, flags...)...)
		require.Zero(t, code, problem)
		for n, line := range strings.Split(strings.TrimSpace(checked), "\n") {
			r := must(result.Parse([]byte(line)))(t)
			s, want := reasons[n], shownReason{}
			names := []string{}
			for _, source := range s.Sources {
				names = append(names, source.Name)
			}
			require.Equal(t, optional(r.TypoSuggestion), s.TypoSuggestion, domains[n])
			if e := r.Details.Provider; e != nil {
				want = shownReason{Entry: &e.Entry, Class: &e.Class, Subdomains: &e.Subdomains}
				require.Equal(t, e.Sources, names, domains[n])
				require.Contains(t, line, `"lists":"`+s.Lists+`"`)
			}
			require.Equal(t, want, shownReason{Entry: s.Entry, Class: s.Class, Subdomains: s.Subdomains}, domains[n])
		}
	}
}

// What people read, and the exit code.
func TestListsWhy(t *testing.T) {
	t.Parallel()
	rows := fileOf(t, "extra.txt", "[disposable]\nmünchen.example\n")
	for _, c := range []struct {
		domain string
		code   int
		lines  []string
	}{
		{"00jac.com", 0, []string{"class +disposable", "entry +00jac.com, covers all names below its own too", "first day +2026-06-14 or earlier",
			`.* +npm:fakefilter [\d.]+, BSD-3-Clause, this version fetched 20\d\d-\d\d-\d\d`, ` +github:castle/disposable-email-domains .*, carried it on 2026-06-14`}},
		{"GMAIL.com.", 0, []string{"domain +gmail.com", "class +public", "entry +gmail.com, covers no subdomain", "first day +unknown", "sources +addrspec/public.txt"}},
		{"a.b.mailinator.com", 0, []string{"domain +a.b.mailinator.com", "entry +mailinator.com, a parent, which covers all names below its own"}},
		{"gmial.com", 3, []string{"class +none: it has no entry", "typo +probably a misspelling of gmail.com"}},
		{"example.org", 3, []string{"class +none: neither it nor a parent that covers it has an entry"}},
		{"münchen.example", 0, []string{"domain +münchen.example", "entry +xn--mnchen-3ya.example, covers all", "sources +operator:lists-extra"}},
	} {
		out, problem, code := operator(t, withModule(t, "lists", "why", c.domain, "--lists-extra", rows)...)
		require.Equal(t, c.code, code, "%s: %s", c.domain, problem)
		for _, line := range append(c.lines, `lists +20\d\d\.\d\d\.\d\d-[0-9a-f]{8}`) {
			require.Regexp(t, "(?m)^"+line, out, c.domain)
		}
	}
	out, problem, code := operator(t, withModule(t, "lists", "why", "gmail.com", "example.org", "yopmail.com")...)
	require.Equal(t, 3, code)
	require.Contains(t, problem, "no entry for 1 of 3 domains")
	require.Equal(t, 2, strings.Count(out, "\n\n"), "a paragraph each")
	for domain, words := range map[string]string{
		"jane@yopmail.com": "domain 1 of 1: this is an address: give only its domain, which is behind the @",
		"a..b":             "this is not a domain: the domain has two dots in a row",
		"":                 "this is not a domain",
		"[192.0.2.1]":      "this is the address of a host",
	} {
		out, problem, code := operator(t, withModule(t, "lists", "why", domain)...)
		require.Equal(t, 2, code, "%q", domain)
		require.Contains(t, problem, words, "%q", domain)
		require.NotContains(t, problem, "jane")
		require.Empty(t, out)
	}
}

// The commands that run the module add the operator's rows. The file that the handbook
// shows has the classes that it says.
func TestExtraRowsOfCommands(t *testing.T) {
	t.Parallel()
	_, text, found := strings.Cut(textOf(t, "../deploy/lists.md"), "```\n# customers of ours\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "```")
	rows := fileOf(t, "extra.txt", text)
	out, problem, code := runCheck(t, nil, "--details", "--to", "ndjson", "--lists-extra", rows,
		"a@partner.example", "a@a.corp.example", "a@a.burner.example", "a@webmail.example", "a@forward.example")
	require.Zero(t, code, problem)
	for n, class := range []string{"known", "known", "disposable", "public", "relay"} {
		require.Contains(t, strings.Split(out, "\n")[n], `"class":"`+class+`"`)
	}
}

// A wrong file is an error of every command, with file, line and what to do.
func TestExtraRowsThatAreRefused(t *testing.T) {
	t.Parallel()
	rows, on := fileOf(t, "extra.txt", "[known]\npartner\n"), &shell{TB: t}
	says := "--lists-extra: " + rows + ":2: this is no domain of at least two labels: write one such as"
	for _, line := range []string{
		"serve --listen 127.0.0.1:0 --dns 127.0.0.1:1 --database sqlite:" + t.TempDir() + "/a.db",
		"check --offline jane@example.org", "lists why gmail.com",
	} {
		require.Equal(t, 1, on.refused(line+" --lists-extra "+rows, says, withModule(t)...))
	}
	require.NoError(t, os.Chmod(rows, 0o666))
	requireFindings(t, "--lists-extra "+rows, `module WRONG .*:2: this is no domain;files WRONG .*extra\.txt`)
}
