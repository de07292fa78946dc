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
	write(t, dir, "secret", testSecret+"\n")
	return dir
}

func write(t testing.TB, dir, name, text string) string {
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	return name
}

// hookText returns a file with one hook: the usual one with the members of own, where
// nil leaves a member out.
func hookText(own map[string]any) string {
	h := map[string]any{"name": "signup", "format": "generic", "account": "shop@example.org", "secret_file": "secret",
		"policy": map[string]any{"block": map[string]any{"reasons": []string{"disposable", "no_mx"}}}, "on_error": "deny"}
	maps.Copy(h, own)
	maps.DeleteFunc(h, func(_ string, v any) bool { return v == nil })
	text, _ := json.Marshal(map[string]any{"hooks": []any{h}}) // strings and numbers: cannot fail
	return string(text)
}

// testHook returns the usual hook with the members of own.
func testHook(t testing.TB, own map[string]any) *Hook {
	t.Helper()
	set, err := parse(context.Background(), testEngine(t), []byte(hookText(own)), testDirectory(t))
	require.NoError(t, err)
	return set.Hooks()[0]
}

// Every mistake in the file has an error that names the place and what to do.
func TestParseErrors(t *testing.T) {
	t.Setenv("HOOK_SECRET_OF_TEST", "v1,whsec_c2hvcnQ=")
	dir := testDirectory(t)
	two := hookText(nil)
	two = two[:len(two)-len("]}")] + "," + two[len(`{"hooks":[`):]
	type own = map[string]any
	type texts = map[string]string
	message := func(text string) own { return own{"messages": map[string]texts{"de": {"typo": text}}} }
	file := func(name, text string) own { return own{"secret_file": write(t, dir, name, text)} }
	for want, list := range map[string][]any{
		"line 1 is not valid JSON": {""},
		"line 3 is not valid JSON": {"{\n\"hooks\": [\n{]}"},
		"line 1":                   {"[]"},
		`"hooks" must be an array of 1 to 100 hooks, and has 0`: {"{}", `{"hooks": []}`},
		`line 2: "nmae" is not a member`:                        {"{\"hooks\": [{\n\"nmae\": \"x\"}]}"},
		`"hook" is not a member`:                                {`{"hooks": [], "hook": []}`},
		`"deny" is not a member that a hook has`:                {own{"deny": []string{"typo"}}},
		"duplicate":                                             {`{"hooks": [{"name": "a", "name": "b"}]}`},
		"an earlier hook has this name too":                     {two},
		`"name" has the wrong type`:                             {own{"name": 5}},
		`"timeout" has the wrong type`:                          {own{"timeout": 3}},
		`"rate" has the wrong type`:                             {own{"rate": 1.5}},
		"1 to 50 of a-z": {own{"name": "../admit"}, own{"name": "Ünicode"}, own{"name": strings.Repeat("a", 51)},
			own{"name": "a-"}, own{"name": nil}},
		`must be "generic", "supabase" or "supabase-mailer"`: {own{"format": "auth0"}},
		`"account" must be the email`:                        {own{"account": nil}, own{"account": "not an email"}},
		`must be "allow" or "deny"`:                          {own{"on_error": nil}, own{"on_error": "open"}},
		`"policy" is missing`:                                {own{"policy": nil}},
		`"no_email" is "flag"`:                               {own{"no_email": "flag"}},
		"from 100ms to 30s":                                  {own{"timeout": "1m"}, own{"timeout": "soon"}},
		`to 2.5s for the format supabase-mailer, such as`:    {own{"format": "supabase-mailer", "timeout": "2501ms"}},
		"from 1 to 10000":                                    {own{"rate": 0}},
		"is not a language tag":                              {own{"language": "no language"}, own{"messages": map[string]texts{"x y": {}}}},
		"is not a reason":                                    {own{"messages": map[string]texts{"de": {"spam": "x"}}}},
		"1 to 500 bytes":                                     {message(" "), message(strings.Repeat("x", 501))},
		"no control characters":                              {message("a\nb")},
		"needs either":                                       {own{"secret_file": nil}, own{"secret_env": "X"}},
		"no such file":                                       {own{"secret_file": "missing"}},
		"is not a regular file":                              {own{"secret_file": "."}},
		"has 0 secrets":                                      {file("empty", "\n")},
		"does not begin with whsec_":                         {file("plain", "hunter2hunter2")},
		"is not base64":                                      {file("cut", "whsec_AAA")},
		"over 4.0 KiB":                                       {file("long", strings.Repeat("x", 5000))},
		"has 3 secrets":                                      {file("three", strings.Repeat(testSecret+",", 3))},
		"has 5 bytes: it must have 24 to 256":                {own{"secret_file": nil, "secret_env": "HOOK_SECRET_OF_TEST"}},
		"HOOK_SECRET_NOT_SET is not set":                     {own{"secret_file": nil, "secret_env": "HOOK_SECRET_NOT_SET"}},
	} {
		for _, wrong := range list {
			text, whole := wrong.(string)
			if !whole {
				text = hookText(wrong.(own))
			}
			_, err := parse(t.Context(), testEngine(t), []byte(text), dir)
			require.ErrorContains(t, err, want, text)
			for _, secret := range []string{"hunter2", "c2hvcnQ", testSecret} {
				require.NotContains(t, err.Error(), secret)
			}
		}
	}
}

// Load bounds the file.
func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, write(t, dir, "large.json", strings.Repeat(" ", maxFile+1)))
	for path, want := range map[string]string{large: "over 1.0 MiB", large + "x": "no such file"} {
		_, err := Load(t.Context(), testEngine(t), path)
		require.ErrorContains(t, err, want)
	}
}

func FuzzParse(f *testing.F) {
	dir, engine := testDirectory(f), testEngine(f) // now: an input has 10 s, and the module may have to be compiled
	f.Add([]byte(hookText(nil)))
	f.Add([]byte(hookText(map[string]any{"messages": map[string]any{"de": map[string]string{"typo": "x"}}})))
	f.Add([]byte(hookText(map[string]any{"policy": map[string]any{"block": map[string]any{"domains": []string{"a.example"}, "reasons": []string{"gibberish>=0.8"}}}, "no_email": "deny"})))
	f.Add([]byte("{\"hooks\": [{\n\"nmae\": \"x\"}]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := parse(context.Background(), engine, text, dir)
		if err != nil {
			require.NotContains(t, err.Error(), testSecret)
			return
		}
		for _, h := range set.Hooks() {
			require.Same(t, h, set.Find(h.Name))
			require.NotEmpty(t, h.Response(h.UncheckedVerdict(), Call{}))
		}
	})
}
