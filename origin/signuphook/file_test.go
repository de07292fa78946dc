package signuphook

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var testSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a hook's secret of 32 bytes here"))

// testDirectory returns a directory with a file of the secret.
func testDirectory(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte(testSecret+"\n"), 0o600))
	return dir
}

// hookText returns a file with one hook: the usual one with the members of own, where
// nil leaves a member out.
func hookText(own map[string]any) string {
	h := map[string]any{"name": "signup", "format": "generic", "account": "shop@example.org", "secret_file": "secret",
		"deny": []string{"invalid", "disposable", "no_mx"}, "on_error": "deny"}
	maps.Copy(h, own)
	maps.DeleteFunc(h, func(_ string, v any) bool { return v == nil })
	text, _ := json.Marshal(map[string]any{"hooks": []any{h}}) // strings and numbers: cannot fail
	return string(text)
}

// testHook returns the usual hook with the members of own.
func testHook(t testing.TB, own map[string]any) *Hook {
	t.Helper()
	set, err := parse([]byte(hookText(own)), testDirectory(t))
	require.NoError(t, err)
	require.NoError(t, set.compile(context.Background(), testEngine(t)))
	return set.Hooks()[0]
}

// Every mistake in the file has an error that names the place and what to do.
func TestParseErrors(t *testing.T) {
	t.Setenv("HOOK_SECRET_OF_TEST", "v1,whsec_c2hvcnQ=")
	dir := testDirectory(t)
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return name
	}
	own := func(member string, value any) string { return hookText(map[string]any{member: value}) }
	for text, want := range map[string]string{
		"":                                   "line 1 is not valid JSON",
		"{\n\"hooks\": [\n{]}":               "line 3 is not valid JSON",
		"[]":                                 "line 1",
		"{}":                                 `"hooks" must be an array of 1 to 100 hooks, and has 0`,
		`{"hooks": []}`:                      "1 to 100",
		`{"hooks": [{"name": 5}]}`:           `"name" has the wrong type`,
		"{\"hooks\": [{\n\"nmae\": \"x\"}]}": `line 2: "nmae" is not a member`,
		`{"hooks": [{"name": "a", "name": "b"}]}`:                   "duplicate",
		`{"hooks": [], "hook": []}`:                                 `"hook" is not a member`,
		own("name", "../admit"):                                     "1 to 50 of a-z",
		own("name", "Ünicode"):                                      "1 to 50 of a-z",
		own("name", strings.Repeat("a", 51)):                        "1 to 50 of a-z",
		own("name", nil):                                            "1 to 50 of a-z",
		own("format", "auth0"):                                      `must be "generic" or "supabase"`,
		own("account", nil):                                         `"account" must be the email`,
		own("account", "not an email"):                              `"account" must be the email`,
		own("on_error", nil):                                        `must be "allow" or "deny"`,
		own("on_error", "open"):                                     `must be "allow" or "deny"`,
		own("deny", []string{"spam"}):                               `"spam" is not a reason of "deny" and "flag"`,
		own("deny", []string{"unchecked"}):                          "is not a reason",
		own("deny", []string{"typo", "typo"}):                       `"typo" is twice in "deny" and "flag"`,
		own("flag", []string{"invalid"}):                            `"invalid" is twice in "deny" and "flag"`,
		own("deny", []string{}):                                     "decides nothing",
		own("gibberish_score", 0.5):                                 `add "gibberish"`,
		own("gibberish_score", 2):                                   "from 0 to below 1",
		own("timeout", "1m"):                                        "from 100ms to 30s",
		own("timeout", 3):                                           `"timeout" has the wrong type`,
		own("rate", 0):                                              "from 1 to 10000",
		own("rate", 1.5):                                            `"rate" has the wrong type`,
		own("language", "no language"):                              "is not a language tag",
		own("messages", map[string]any{"x y": map[string]string{}}): "is not a language tag",
		own("messages", map[string]any{"de": map[string]string{"spam": "x"}}):                      "is not a reason",
		own("messages", map[string]any{"de": map[string]string{"typo": " "}}):                      "1 to 500 bytes",
		own("messages", map[string]any{"de": map[string]string{"typo": "a\nb"}}):                   "no control characters",
		own("messages", map[string]any{"de": map[string]string{"typo": strings.Repeat("x", 501)}}): "1 to 500 bytes",
		own("secret_file", nil):                                                           "needs either",
		own("secret_env", "X"):                                                            "needs either",
		own("secret_file", "missing"):                                                     "no such file",
		own("secret_file", "."):                                                           "is a directory",
		own("secret_file", write("empty", "\n")):                                          "has 0 secrets",
		own("secret_file", write("plain", "hunter2hunter2")):                              "does not begin with whsec_",
		own("secret_file", write("cut", "whsec_AAA")):                                     "is not base64",
		own("secret_file", write("long", strings.Repeat("x", 5000))):                      "over 4 KiB",
		own("secret_file", write("three", strings.Repeat(testSecret+",", 3))):             "has 3 secrets",
		hookText(map[string]any{"secret_file": nil, "secret_env": "HOOK_SECRET_OF_TEST"}): "has 5 bytes: it must have 24 to 256",
		hookText(map[string]any{"secret_file": nil, "secret_env": "HOOK_SECRET_NOT_SET"}): "is not set",
		strings.Replace(hookText(nil), "]}", "]}", 1)[:len(hookText(nil))-2] + "," + hookText(nil)[len(`{"hooks":[`):]: "an earlier hook has this name too",
	} {
		_, err := parse([]byte(text), dir)
		require.ErrorContains(t, err, want, text)
		for _, secret := range []string{"hunter2", "c2hvcnQ", testSecret} {
			require.NotContains(t, err.Error(), secret)
		}
	}
}

// Load bounds the file.
func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(t.Context(), testEngine(t), filepath.Join(dir, "missing.json"))
	require.ErrorContains(t, err, "no such file")
	large := filepath.Join(dir, "large.json")
	require.NoError(t, os.WriteFile(large, make([]byte, maxFile+1), 0o600))
	_, err = Load(t.Context(), testEngine(t), large)
	require.ErrorContains(t, err, "over 1 MiB")
}

// A secret may be written as Supabase or as Standard Webhooks writes it, and two with
// any usual separator.
func TestParseSecrets(t *testing.T) {
	for text, want := range map[string]int{
		testSecret:                               1,
		"v1," + testSecret + "\r\n":              1,
		testSecret + "," + testSecret:            2,
		"v1," + testSecret + ",v1," + testSecret: 2,
		"v1," + testSecret + "|v1," + testSecret: 2,
		testSecret + "\n" + testSecret + "\n":    2,
	} {
		v, err := parseSecrets(text)
		require.NoError(t, err, text)
		require.Len(t, v, want, text)
	}
}

func FuzzParse(f *testing.F) {
	dir, engine := testDirectory(f), testEngine(f) // now: an input has 10 s, and the module may have to be compiled
	f.Add([]byte(hookText(nil)))
	f.Add([]byte(hookText(map[string]any{"messages": map[string]any{"de": map[string]string{"typo": "x"}}, "gibberish_score": 0.5})))
	f.Add([]byte(hookText(map[string]any{"deny": nil, "policy": map[string]any{"block": map[string]any{"domains": []string{"a.example"}, "reasons": []string{"gibberish>=0.8"}}}, "no_email": "deny"})))
	f.Add([]byte("{\"hooks\": [{\n\"nmae\": \"x\"}]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := parse(text, dir)
		if err != nil {
			require.NotContains(t, err.Error(), testSecret)
			return
		}
		if err := set.compile(context.Background(), engine); err != nil {
			require.NotContains(t, err.Error(), testSecret)
			return
		}
		for _, h := range set.Hooks() {
			require.Same(t, h, set.Find(h.Name))
			require.NotEmpty(t, h.Response(h.UncheckedVerdict(), Call{}))
		}
	})
}
