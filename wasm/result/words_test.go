package result

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/host"
)

func TestOpinion(t *testing.T) {
	ok := Result{Valid: true, MX: true}
	for words, change := range map[string]func(*Result) (tone string){
		"Not a valid address":            func(r *Result) string { r.Valid = false; return ToneBad },
		"Probably mistyped":              func(r *Result) string { r.Typo, r.MX = true, false; return ToneWarn },
		"Throw-away mailbox":             func(r *Result) string { r.Disposable, r.MX = true, false; return ToneBad },
		"No MX record":                   func(r *Result) string { r.MX, r.Gibberish = false, true; return ToneWarn },
		"Looks random":                   func(r *Result) string { r.Gibberish, r.Role = true, "Support"; return ToneWarn },
		"Reaches a role, not one person": func(r *Result) string { r.Role = "Support"; return ToneWarn },
		"Nothing wrong found":            func(r *Result) string { r.MX, r.MXNull = false, true; return ToneGood },
	} {
		r := ok
		want := change(&r)
		tone, got := r.Opinion()
		require.Equal(t, words, got)
		require.Equal(t, want, tone, words)
	}
	_, words := (&Result{Valid: true, Domain: "[192.0.2.1]"}).Opinion()
	require.Equal(t, "Nothing wrong found", words, "mail goes to the literal")
}

// sentences returns the sentences of facts by field, with their tones, and the notable fields.
func sentences(r *Result) (words map[string]string, notable []string) {
	words = map[string]string{}
	for _, f := range r.Facts() {
		words[f.Field] = f.Tone + ": " + f.Sentence
		if f.Notable {
			notable = append(notable, f.Field)
		}
	}
	return words, notable
}

func TestFacts(t *testing.T) {
	plain := Result{Email: "a@b.example", Normalized: "a@b.example", Domain: "b.example", Valid: true, ASCII: true, MX: true}
	words, notable := sentences(&plain)
	require.Equal(t, map[string]string{
		"valid":      "good: It follows the standards of addresses (RFC 5321, 5322, 6531).",
		"mx":         "good: b.example has an MX record: a mail server is named for it.",
		"typo":       "good: b.example does not look like a misspelling of a common provider.",
		"disposable": "good: b.example is not known for throw-away mailboxes.",
		"gibberish":  "good: It does not look random: score 0.00, below 0.50.",
		"role":       "good: It names no role such as support or sales.",
		"public":     "plain: b.example is not known as a public mailbox provider.",
		"relay":      "plain: b.example is not known as a forwarding service.",
		"alias":      "plain: It has no plus tag.",
		"ascii":      "plain: All characters are ASCII.",
		"normalized": "plain: It is in normal form already.",
	}, words)
	require.Empty(t, notable)
	require.Empty(t, new(Result).Facts())

	all := Result{Email: "A@b.example", Normalized: "a@b.example", Domain: "b.example", Valid: true, Typo: true, TypoSuggestion: "a@c.example",
		Disposable: true, Gibberish: true, GibberishScore: 0.973, Role: "HR", Public: true, Relay: true, Alias: true}
	words, notable = sentences(&all)
	require.Equal(t, map[string]string{
		"valid":      "good: It follows the standards of addresses (RFC 5321, 5322, 6531).",
		"mx":         "warn: b.example has no MX record, so mail goes to its address record, if it has one (RFC 5321 section 5.1).",
		"typo":       "warn: b.example looks like a misspelling of c.example.",
		"disposable": "bad: b.example belongs to a provider of throw-away mailboxes.",
		"gibberish":  "warn: It looks random: score 0.97, where 0.50 and more count as random.",
		"role":       "warn: It names a role (HR), so several people may read the mail, or nobody.",
		"public":     "plain: Anybody can open a mailbox at b.example.",
		"relay":      "plain: b.example forwards mail and hides the address of the person behind it.",
		"alias":      "plain: It has a plus tag; most providers deliver to the address without it.",
		"ascii":      "plain: It has characters beyond ASCII (RFC 6531), which some mail servers refuse.",
		"normalized": "plain: Its normal form is a@b.example.",
	}, words)
	require.Equal(t, []string{"mx", "typo", "disposable", "gibberish", "role", "relay", "ascii"}, notable)

	all.Details = &Details{Provider: &ProviderEvidence{Entry: "b.example", Class: "public"}}
	_, notable = sentences(&all)
	require.Equal(t, []string{"mx", "typo", "disposable", "gibberish", "role", "public", "relay", "alias", "ascii", "normalized"}, notable)
	all.MXNull = true
	words, _ = sentences(&all)
	require.Equal(t, "plain: The MX records of b.example were not looked up.", words["mx"])
	all.Domain = "[192.0.2.1]"
	words, _ = sentences(&all)
	require.Equal(t, "plain: [192.0.2.1] is an IP address, to which mail goes without MX records (RFC 5321 section 5.1).", words["mx"])
}

// The evidence is beside the field that it explains, which is notable for it.
func TestFactsHaveEvidence(t *testing.T) {
	no := false
	for _, c := range []struct {
		field, want string
		r           Result
		d           Details
	}{
		{"form", "warn: Unusual: the domain has no dot.", Result{}, Details{Form: []string{"single_label"}}},
		{"role", `warn: It names a role (HR), so several people may read the mail, or nobody. The word is "hr".`,
			Result{Role: "HR"}, Details{Role: &RoleEvidence{Word: "hr", Match: "word"}}},
		{"role", "warn: It names a role (NoReply), so several people may read the mail, or nobody." +
			" The host noreply.b takes no mail. The entry is noreply.b, with every name below it, from one.txt, two.txt.",
			Result{Role: "NoReply"}, Details{Role: &RoleEvidence{Word: "noreply.b", Match: "host"},
				Provider: &ProviderEvidence{Entry: "noreply.b", Class: "no_mail", Subdomains: true, Sources: []string{"one.txt", "two.txt"}}}},
		{"typo", "good: b does not look like a misspelling of a common provider. The entry is b.", Result{},
			Details{Provider: &ProviderEvidence{Entry: "b", Class: "known"}}},
		{"disposable", "bad: b has no entry with proof, but each of its mail servers belongs to a service of throw-away mailboxes.",
			Result{Disposable: true}, Details{}},
		{"disposable", "bad: b has no entry with proof, but each of its mail servers belongs to a service of throw-away mailboxes." +
			" The entry is b, without proof.", Result{Disposable: true}, Details{Provider: &ProviderEvidence{Entry: "b", Class: "unproven"}}},
		{"disposable", "good: b is not known for throw-away mailboxes. The entry is hair, without proof, with every name below it.", Result{},
			Details{Provider: &ProviderEvidence{Entry: "hair", Class: "unproven", Subdomains: true}}},
		{"disposable", "bad: b belongs to a provider of throw-away mailboxes. The entry is b.", Result{Disposable: true},
			Details{Provider: &ProviderEvidence{Entry: "b", Class: "disposable"}}},
		{"exchange", "bad: Mail goes to mx.c, a service of throw-away mailboxes. The entry is c.", Result{},
			Details{Exchange: &Exchange{Class: "temporary", Host: "mx.c", Entry: "c"}}},
		{"exchange", "warn: No address record takes mail for the domain.", Result{}, Details{Exchange: &Exchange{Class: "unknown", AddressRecord: &no}}},
		{"exchange", "plain: Mail goes to mx.b, the domain's own host.", Result{}, Details{Exchange: &Exchange{Class: "own", Host: "mx.b", Entry: "mx.b"}}},
		{"canonical", `plain: The mailbox is a@b: other spellings reach it too, by the rule "x" of its provider.`, Result{},
			Details{Canonical: "a@b", CanonicalRule: "x"}},
	} {
		c.r.Valid, c.r.Domain, c.r.Details = true, "b", &c.d
		words, notable := sentences(&c.r)
		require.Equal(t, c.want, words[c.field])
		require.Contains(t, notable, c.field)
	}
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

func TestSentence(t *testing.T) {
	for clause, want := range map[string]string{"": "", "it is": "It is.", "über": "Über."} {
		require.Equal(t, want, Sentence(clause))
	}
	for want, v := range map[string]Verdict{"": {Action: Allow}, "invalid": {Reason: "invalid"}, "role, review.reasons[0]": {Reason: "role", Rule: "review.reasons[0]"}} {
		require.Equal(t, want, v.Because())
	}
}
