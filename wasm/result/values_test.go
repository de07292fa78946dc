package result

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// checked returns the module's result for an address.
func checked(t testing.TB, engine *host.Engine, email string, flags host.Flags) []byte {
	facts, err := engine.Check(context.Background(), nil, email, flags)
	require.NoError(t, err)
	return facts.JSON
}

func newEngine(t testing.TB) *host.Engine {
	engine, err := host.New(context.Background(), moduletest.Bytes(t), host.Options{CacheDir: moduletest.CacheDir(), Size: 1})
	require.NoError(t, err)
	t.Cleanup(func() { engine.Close(context.Background()) })
	return engine
}

// The module's own result is split without decoding, and gives what decoding gives.
func TestSplitNeedsNoDecoding(t *testing.T) {
	engine := newEngine(t)
	for _, email := range []string{"jane@example.org", "", `"a\"b"@example.org`, "support+x@gmial.com", "a..b@example.org", "jäne@exämple.org", "x\x1b\xff", `"},"valid":`} {
		for _, flags := range []host.Flags{0, host.Details} {
			text := checked(t, engine, email, flags)
			fast, err := Split(text)
			require.NoError(t, err)
			slow, err := splitSlowly(text)
			require.NoError(t, err)
			require.Equal(t, slow, fast, email)
		}
	}
	text := checked(t, engine, "jane@example.org", host.Details)
	require.Zero(t, testing.AllocsPerRun(100, func() { Split(text) }), "the slow way allocates")
}

func TestSplitTakesAnyOrder(t *testing.T) {
	text := `{"typo":true, "valid":true,"email":"a\u0040b","normalized":null,"local_part":"x","domain":"y","alias":false,"ascii":true,
		"role":null,"gibberish":false,"gibberish_score":0.25,"mx":true,"disposable":false,"public":false,"relay":false,"typo_suggestion":"z"}`
	v, err := Split([]byte(text))
	require.NoError(t, err)
	require.Equal(t, "a@b", Text(v[Email]))
	require.Equal(t, "", Text(v[Normalized]))
	require.Equal(t, "0.25", Text(v[GibberishScore]))
	require.Equal(t, "true", Text(v[MX]))
	require.Equal(t, "z", Text(v[TypoSuggestion]))
}

func TestSplitRefuses(t *testing.T) {
	for _, text := range []string{"", "{}", "null", "[]", `{"email":`, `{"email":"a`, `{"email":"a","valid":true}`, `{"email":"\`} {
		_, err := Split([]byte(text))
		require.Error(t, err, text)
	}
}

func FuzzSplit(f *testing.F) {
	engine := newEngine(f)
	f.Add(string(checked(f, engine, "jane@example.org", 0)))
	f.Add(string(checked(f, engine, `"a\"b"@gmial.com`, host.Details)))
	f.Add(`{"email":"a"}`)
	f.Add(strings.Repeat("{", 100))
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Split([]byte(text))
		if err != nil || !json.Valid([]byte(text)) {
			return
		}
		slow, err := splitSlowly([]byte(text))
		require.NoError(t, err)
		for n := range v {
			if duplicate := strings.Count(text, `"`+Names[n]+`"`) > 1 || strings.Contains(text, `\u`); !duplicate {
				require.Equal(t, string(slow[n]), string(v[n]))
			}
			Text(v[n])
		}
	})
}

func TestSplitVerdict(t *testing.T) {
	for text, want := range map[string]Verdict{
		`{"action":"allow","reason":null,"rule":null}`:                                 {Action: Allow},
		`{"action":"block","reason":"invalid","rule":null}`:                            {Action: Block, Reason: "invalid"},
		`{"action":"review","reason":"gibberish>=0.55","rule":"review.reasons[9999]"}`: {Review, "gibberish>=0.55", "review.reasons[9999]"},
		`{"action":"block","reason":"domain","rule":"block.domains[0]"}`:               {Block, "domain", "block.domains[0]"},
	} {
		got, err := SplitVerdict([]byte(text))
		require.NoError(t, err)
		require.Equal(t, want, got)
		r, err := Parse([]byte(`{"email":"a","mx":null,"verdict":` + text + `}`))
		require.NoError(t, err)
		require.Equal(t, want, r.Verdict)
	}
	for _, text := range []string{"", "{}", `{"action":"allow"}`, `{"action":"allow","reason":null}`, `{"action":`, `{"action":"allow","rule":null,"reason":null}`} {
		_, err := SplitVerdict([]byte(text))
		require.Error(t, err, text)
	}
}

func FuzzSplitVerdict(f *testing.F) {
	f.Add(`{"action":"block","reason":"domain","rule":"block.domains[0]"}`)
	f.Add(`{"action":"a\"","reason":null,"rule":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := SplitVerdict([]byte(text))
		var slow Verdict
		if err != nil || !utf8.ValidString(text) || strings.Count(text, `":`) != 3 || json.Unmarshal([]byte(text), &slow) != nil {
			return
		}
		require.Equal(t, slow, got)
	})
}
