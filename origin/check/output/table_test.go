package output

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

func TestTable(t *testing.T) {
	got := write(t, &Table{Width: 80}, newChecker(t, 0), addresses("jane@example.org", "jane doe@example.org",
		"support+x@gmial.com", "日本語 語@example.org", "x@", "\x1b[2Jx@example.org", "",
		"so.very.very.long.and.longer..address@example.org", "jane@example,org")...)
	require.Equal(t, strings.TrimPrefix(`
ADDRESS                       VERDICT              REASON
jane@example.org              Nothing wrong found
jane doe@example.org          Not a valid address  The local part has a space
    ^                                              inside; remove it, or put the
                                                   local part in double quotes.
support+x@gmial.com           Probably mistyped    Did you mean
                                                   support+x@gmail.com?
                                                   It names a role (Support), so
                                                   several people may read the
                                                   mail, or nobody.
日本語 語@example.org         Not a valid address  The local part has a space
      ^                                            inside; remove it, or put the
                                                   local part in double quotes.
x@                            Not a valid address  The domain is missing; put it
  ^                                                after the @.
`+"\uFFFD"+`[2Jx@example.org             Not a valid address  The address has the control
^                                                  character U+001B escape;
                                                   remove it.
(line 7)                      Not a valid address  The address is empty; write
                                                   it as name@domain.
so.very.very.long.and.longer  Not a valid address  The local part has two dots
..address@example.org                              in a row; remove one.
 ^
jane@example,org              Not a valid address  The domain has "," in place
            ^                                      of a dot; write a dot.
                                                   Did you mean
                                                   jane@example.org?
`, "\n"), got)
}

func TestTableOfErrors(t *testing.T) {
	records := append(addresses("a@slow.example"), pipeline.Record{File: "list.json", Line: 7, Err: errNoObject},
		pipeline.Record{Line: 8, Err: pipeline.ErrNoAddress})
	got := encodeAll(t, &Table{Width: 80}, records, []pipeline.Outcome{timeout, {}, {}})
	require.Equal(t, strings.TrimPrefix(`
ADDRESS                       VERDICT              REASON
a@slow.example                Could not be         DNS lookup timed out for
                              checked              domain slow.example
(list.json line 7)            Cannot be read       not a JSON object
(line 8)                      No address
`, "\n"), got)
}

// With a policy, its verdict is in place of ours.
func TestTableOfVerdicts(t *testing.T) {
	checker := withPolicy(t, `{"allow":{"domains":["gmial.com"]},"block":{"reasons":["disposable"]},"review":{"reasons":["role"]}}`)
	got := write(t, &Table{Width: 80}, checker, addresses("jane@example.org", "jane@mailinator.com", "info@example.org", "jane@gmial.com", "jane@")...)
	require.Equal(t, strings.TrimPrefix(`
ADDRESS                       VERDICT              REASON
jane@example.org              allow
jane@mailinator.com           block                disposable, block.reasons[0]
                                                   Throw-away mailbox
                                                   mailinator.com belongs to a
                                                   provider of throw-away
                                                   mailboxes.
info@example.org              review               role, review.reasons[0]
                                                   Reaches a role, not one
                                                   person
                                                   It names a role (General), so
                                                   several people may read the
                                                   mail, or nobody.
jane@gmial.com                allow                domain, allow.domains[0]
                                                   Probably mistyped
                                                   Did you mean jane@gmail.com?
jane@                         block                invalid
     ^                                             Not a valid address
                                                   The domain is missing; put it
                                                   after the @.
`, "\n"), got)
	later := pipeline.Outcome{JSON: []byte(`{"email":"a","valid":true,"verdict":{"action":"\u001b[31m"}}`), Verdict: result.Verdict{Action: "\x1b[31m"}}
	require.Contains(t, encodeAll(t, &Table{}, addresses("a"), []pipeline.Outcome{later}), "Nothing wrong found")
}

func TestTableShowsMXOnlyAsAFact(t *testing.T) {
	words := func(mx string) string {
		o := pipeline.Outcome{JSON: []byte(`{"email":"a@b.example","domain":"b.example","valid":true,"ascii":true,"mx":` + mx + `}`)}
		return encodeAll(t, &Table{}, addresses("a@b.example"), []pipeline.Outcome{o})
	}
	require.Contains(t, words("false"), "No MX record")
	require.NotContains(t, words("null"), "MX")
	require.Contains(t, words("null"), "Nothing wrong found")
}

func TestTableDetails(t *testing.T) {
	got := write(t, &Table{Details: true, Width: 500}, newChecker(t, host.Details), addresses("j.doe+x@gmail.com", "a..b@example.org", "sales@mailinator.com")...)
	for _, words := range []string{"The mailbox is jdoe@gmail.com", "RFC 5322 section 3.2.3, local_part_two_dots", `The word is "sales".`, "The entry is mailinator.com, "} {
		require.Contains(t, got, words)
	}
	require.NotContains(t, got, "Unusual")
	require.NotContains(t, got, "Mail goes to")
	r := result.Result{Email: "x@y", Valid: true, Details: &result.Details{Form: []string{"single_label"}, Exchange: &result.Exchange{Class: "own", Host: "mx.y"}}}
	got = encodeAll(t, &Table{Details: true, Width: 200}, addresses("x@y"), []pipeline.Outcome{resultOf(t, r)})
	require.Contains(t, got, "Unusual: the domain has no dot.\n")
	require.Contains(t, got, "Mail goes to mx.y, the domain's own host.\n")
}

var sgr = regexp.MustCompile("\x1b\\[[0-9]*m")

func TestTableColors(t *testing.T) {
	records, local := addresses("jane@example.org", "a..b@example.org", "x@gmial.com"), newChecker(t, 0)
	plain, colored := write(t, &Table{}, local, records...), write(t, &Table{Color: true}, local, records...)
	require.Equal(t, plain, sgr.ReplaceAllString(colored, ""))
	require.Contains(t, colored, "\x1b[32mNothing wrong found\x1b[0m")
	require.Contains(t, colored, "\x1b[31mNot a valid address\x1b[0m")
	require.Contains(t, colored, "\x1b[33mProbably mistyped\x1b[0m")
}

// Whatever a list or a service contains, no control character reaches the terminal and no line is wider than it.
func FuzzTable(f *testing.F) {
	for _, text := range []string{"a..b@example.org", "\x1b]0;x\x07", "\u202ex", "\xff\xfe", "日本語", "e\u0301\u0301", "👩‍👩‍👧", "\u0600a", "a\nb\r", "", strings.Repeat("w", 500), "🇩🇪🇩", "\u200b", "ﷺ", "⸻"} {
		f.Add(text, text, 3, 80, false)
		f.Add(text, text, 0, 33, true)
	}
	f.Fuzz(func(t *testing.T, email, text string, offset, width int, valid bool) {
		if width > 500 {
			return
		}
		r := result.Result{Email: email, Valid: valid, LocalPart: text, Domain: text, Typo: true, TypoSuggestion: text, Role: text,
			Details: &result.Details{Canonical: text, CanonicalRule: text, Provider: &result.ProviderEvidence{Entry: text},
				Form: []string{text}, Exchange: &result.Exchange{Class: text, Provider: text, Host: text}}}
		o := resultOf(t, r)
		o.Refusal = result.Refusal{Code: text, Offset: offset, Sentence: text}
		records := append(addresses(email), pipeline.Record{File: text, Line: 2, Err: context.Canceled}, pipeline.Record{Email: email})
		table := &Table{Width: width, Details: true}
		got := encodeAll(t, table, records, []pipeline.Outcome{o, {}, {Code: "E" + text, Message: text}})
		for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\n") {
			require.LessOrEqual(t, uniseg.StringWidth(line), max(width, minWidth, plainWidth*btoi(width == 0)), "%q", line)
			require.Equal(t, -1, strings.IndexFunc(line, func(r rune) bool { return !unicode.IsGraphic(r) && r != unicode.ReplacementChar }), "%q", line)
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
