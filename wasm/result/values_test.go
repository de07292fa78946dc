package result

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
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

func TestExchangeSentence(t *testing.T) {
	yes, no := true, false
	for want, e := range map[string]Exchange{
		"Mail goes to aspmx.l.google.com of Google Workspace, a mail suite for companies.":              {Class: "suite", Provider: "Google Workspace", Host: "aspmx.l.google.com"},
		"Mail goes to mail.mailinator.com, a service of throw-away mailboxes.":                          {Class: "temporary", Host: "mail.mailinator.com"},
		"Mail goes to mx.own.example, the domain's own host.":                                           {Class: "own", Host: "mx.own.example"},
		"Mail goes to mx.b.example.":                                                                    {Class: "unknown", Host: "mx.b.example"},
		"Mail goes to mx.b.example of B, later.":                                                        {Class: "later", Provider: "B", Host: "mx.b.example"},
		"Mail goes to the address record of the domain.":                                                {Class: "unknown", AddressRecord: &yes},
		"No address record takes mail for the domain.":                                                  {Class: "unknown", AddressRecord: &no},
		"The lookup of the domain's address record failed, so it is not known whether mail goes there.": {Class: "unknown"},
	} {
		require.Equal(t, want, e.Sentence())
	}
}

// Every class and name that the module can give has words.
func TestWordsForAll(t *testing.T) {
	for _, class := range lists.ExchangeClasses {
		require.NotEmpty(t, exchangeKinds[class], class)
	}
	engine := newEngine(t)
	for email, want := range map[string]string{
		"jane@mail.com":    "",
		`"a b"@localhost`:  "Unusual: the part before the @ is in quotation marks; the domain has no dot; the top-level domain does not exist; the domain is reserved for local use, tests or examples.",
		"a(b)@[192.0.2.1]": "Unusual: it has a comment; it has an IP address in place of a domain.",
	} {
		r, err := Parse(checked(t, engine, email, host.Details))
		require.NoError(t, err)
		require.Equal(t, want, r.Details.FormSentence())
		require.Nil(t, r.Details.Exchange)
	}
	require.Equal(t, "Unusual: later.", (&Details{Form: []string{"later"}}).FormSentence())
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

func TestOpinion(t *testing.T) {
	ok := Result{Valid: true, MX: true}
	for words, change := range map[string]func(*Result){
		"Not a valid address":            func(r *Result) { r.Valid = false },
		"Probably mistyped":              func(r *Result) { r.Typo, r.MX = true, false },
		"Throw-away mailbox":             func(r *Result) { r.Disposable, r.MX = true, false },
		"No MX record":                   func(r *Result) { r.MX, r.Gibberish = false, true },
		"Looks random":                   func(r *Result) { r.Gibberish, r.Role = true, "Support" },
		"Reaches a role, not one person": func(r *Result) { r.Role = "Support" },
		"Nothing wrong found":            func(*Result) {},
	} {
		r := ok
		change(&r)
		_, got := r.Opinion(true)
		require.Equal(t, words, got)
	}
	tone, _ := (&Result{Valid: true}).Opinion(true)
	require.Equal(t, ToneWarn, tone, "mail may go to the address record (RFC 5321 section 5.1)")
	_, words := (&Result{Valid: true, Domain: "[192.0.2.1]"}).Opinion(true)
	require.Equal(t, "Nothing wrong found", words, "mail goes to the literal")
	tone, words = (&Result{Valid: true}).Opinion(false)
	require.Equal(t, "Nothing wrong found", words, "mx is no fact")
	require.Equal(t, ToneGood, tone)
}
