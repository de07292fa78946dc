package result

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tones of opinions and facts. The dashboard has style classes and the command check
// colours for them; each has words beside its colour.
const (
	ToneGood  = "good"
	ToneWarn  = "warn"
	ToneBad   = "bad"
	TonePlain = "plain"
)

// Unchecked is the opinion on an address that could not be checked. Its tone is
// ToneWarn.
const Unchecked = "Could not be checked"

// isLiteral reports whether the domain of a valid address is an address literal, which has no
// MX: mail goes to the IP address (RFC 5321 section 5.1).
func isLiteral(domain string) bool { return strings.HasPrefix(domain, "[") }

// Opinion returns the tone and the words for an address without a policy: what matters
// most to somebody who wants to send mail to it.
func (r *Result) Opinion() (tone, words string) {
	switch {
	case !r.Valid:
		return ToneBad, "Not a valid address"
	case r.Typo:
		return ToneWarn, "Probably mistyped"
	case r.Disposable:
		return ToneBad, "Throw-away mailbox"
	case !r.MX && !r.MXNull && !isLiteral(r.Domain): // a warning, because mail may go to the address record
		return ToneWarn, "No MX record"
	case r.Gibberish:
		return ToneWarn, "Looks random"
	case r.Role != "":
		return ToneWarn, "Reaches a role, not one person"
	}
	return ToneGood, "Nothing wrong found"
}

// SuggestedDomain returns the domain that was probably meant. A host may be set so that the
// suggestion is the whole address.
func (r *Result) SuggestedDomain() string {
	return r.TypoSuggestion[strings.LastIndexByte(r.TypoSuggestion, '@')+1:]
}

// A Fact is a field of a result in words.
type Fact struct {
	Field    string `json:"field"`
	Tone     string `json:"tone"`
	Sentence string `json:"sentence"`
	Notable  bool   `json:"notable"` // also where many addresses are shown
}

// Facts puts a valid address into words, with the evidence of the details. Without details a
// fact is notable if somebody who sends mail should know it; with details, which somebody asked
// for, each field that is set is. Sentences have parts of the address as they are: a host that shows
// them must make control characters visible.
func (r *Result) Facts() []Fact {
	if !r.Valid {
		return nil
	}
	d := cmp.Or(r.Details, &Details{})
	facts := []Fact{{"valid", ToneGood, "It follows the standards of addresses (RFC 5321, 5322, 6531).", false}}
	if form := d.FormSentence(); form != "" {
		facts = append(facts, Fact{"form", ToneWarn, form, true})
	}
	facts = append(facts, r.mail()...)
	disposable := r.Domain + " belongs to a provider of throw-away mailboxes."
	if r.Details != nil && (d.Provider == nil || d.Provider.Class != "disposable") {
		disposable = r.Domain + " has no entry with proof, but each of its mail servers belongs to a service of " +
			"throw-away mailboxes."
	}
	for _, f := range []struct {
		field, tone  string
		set, notable bool
		yes, no      string
	}{
		{"typo", ToneWarn, r.Typo, true,
			r.Domain + " looks like a misspelling of " + r.SuggestedDomain() + ".",
			r.Domain + " does not look like a misspelling of a common provider."},
		{"disposable", ToneBad, r.Disposable, true, disposable, r.Domain + " is not known for throw-away mailboxes."},
		{"gibberish", ToneWarn, r.Gibberish, true,
			fmt.Sprintf("It looks random: score %.2f, where 0.50 and more count as random.", r.GibberishScore),
			fmt.Sprintf("It does not look random: score %.2f, below 0.50.", r.GibberishScore)},
		{"role", ToneWarn, r.Role != "", true,
			"It names a role (" + r.Role + "), so several people may read the mail, or nobody.",
			"It names no role such as support or sales."},
		{"public", TonePlain, r.Public, false,
			"Anybody can open a mailbox at " + r.Domain + ".",
			r.Domain + " is not known as a public mailbox provider."},
		{"relay", TonePlain, r.Relay, true,
			r.Domain + " forwards mail and hides the address of the person behind it.",
			r.Domain + " is not known as a forwarding service."},
		{"alias", TonePlain, r.Alias, false,
			"It has a plus tag; most providers deliver to the address without it.",
			"It has no plus tag."},
		{"ascii", TonePlain, !r.ASCII, true,
			"It has characters beyond ASCII (RFC 6531), which some mail servers refuse.",
			"All characters are ASCII."},
		{"normalized", TonePlain, r.Normalized != r.Email, false,
			"Its normal form is " + r.Normalized + ".",
			"It is in normal form already."},
	} {
		why := d.evidence(f.field)
		fact := Fact{f.field, f.tone, f.yes + why, f.set && (f.notable || r.Details != nil) || why != ""}
		if !f.set {
			fact.Sentence = f.no + why
			if f.tone != TonePlain {
				fact.Tone = ToneGood
			}
		}
		facts = append(facts, fact)
	}
	if d.CanonicalRule != "" {
		facts = append(facts, Fact{"canonical", TonePlain, fmt.Sprintf("The mailbox is %s: other spellings reach it too, "+
			"by the rule %q of its provider.", d.Canonical, d.CanonicalRule), true})
	}
	return facts
}

// mail says where the mail of the domain goes: the facts mx and exchange.
func (r *Result) mail() []Fact {
	mx := Fact{"mx", ToneWarn, r.Domain + " has no MX record, so mail goes to its address record, if it has one" +
		" (RFC 5321 section 5.1).", true}
	switch {
	case r.MX:
		mx = Fact{"mx", ToneGood, r.Domain + " has an MX record: a mail server is named for it.", false}
	case isLiteral(r.Domain):
		mx = Fact{"mx", TonePlain, r.Domain + " is an IP address, to which mail goes without MX records" +
			" (RFC 5321 section 5.1).", true}
	case r.MXNull:
		mx = Fact{"mx", TonePlain, "The MX records of " + r.Domain + " were not looked up.", false}
	}
	if r.Details == nil || r.Details.Exchange == nil {
		return []Fact{mx}
	}
	e := r.Details.Exchange
	exchange := Fact{"exchange", TonePlain, e.Sentence(), true}
	switch {
	case e.Class == "temporary":
		exchange.Tone = ToneBad
	case e.Class == "parked" || e.AddressRecord != nil && !*e.AddressRecord:
		exchange.Tone = ToneWarn
	}
	if e.Entry != "" && e.Entry != e.Host {
		exchange.Sentence += " The entry is " + e.Entry + "."
	}
	return []Fact{mx, exchange}
}

// evidence says in sentences where a field comes from, each after a space.
func (d *Details) evidence(field string) (sentences string) {
	if w := d.Role; w != nil && field == "role" {
		sentences = fmt.Sprintf(" The word is %q.", w.Word)
		if w.Match == "host" {
			sentences = " The host " + w.Word + " takes no mail."
		}
	}
	p := d.Provider
	if p == nil || field != cmp.Or(map[string]string{"known": "typo", "no_mail": "role", "unproven": "disposable"}[p.Class], p.Class) {
		return sentences
	}
	sentences += " The entry is " + p.Entry
	if p.Class == "unproven" {
		sentences += ", without proof"
	}
	if p.Subdomains {
		sentences += ", with every name below it"
	}
	if len(p.Sources) > 0 {
		sentences += ", from " + strings.Join(p.Sources, ", ")
	}
	return sentences + "."
}

// Sentence says where the mail of the domain goes.
func (e *Exchange) Sentence() string {
	kind := cmp.Or(exchangeKinds[e.Class], e.Class) // a later class has no words yet
	switch {
	case e.Host == "" && e.AddressRecord == nil:
		return "The lookup of the domain's address record failed, so it is not known whether mail goes there."
	case e.Host == "" && *e.AddressRecord:
		return "Mail goes to the address record of the domain."
	case e.Host == "":
		return "No address record takes mail for the domain."
	case e.Class == "unknown": // or one of a throw-away service beside others
		return "Mail goes to " + e.Host + "."
	case e.Provider != "" && e.Class != "own":
		return "Mail goes to " + e.Host + " of " + e.Provider + ", " + kind + "."
	}
	return "Mail goes to " + e.Host + ", " + kind + "."
}

// exchangeKinds are the classes of exchanges in words.
var exchangeKinds = map[string]string{
	"mailbox":   "a mailbox provider",
	"suite":     "a mail suite for companies",
	"gateway":   "a filter in front of another host",
	"host":      "a hosting company",
	"forward":   "a forwarding service",
	"relay":     "a service that hides the mailbox",
	"temporary": "a service of throw-away mailboxes",
	"parked":    "for domains without mail: for sale, or traps for misspellings",
	"own":       "the domain's own host",
}

// FormSentence says what is unusual about the form of an address; "" if nothing is.
func (d *Details) FormSentence() string {
	if len(d.Form) == 0 {
		return ""
	}
	parts := make([]string, len(d.Form))
	for n, name := range d.Form {
		parts[n] = cmp.Or(formParts[name], name) // a later name has no words yet
	}
	return "Unusual: " + strings.Join(parts, "; ") + "."
}

// formParts are the names of unusual forms in words.
var formParts = map[string]string{
	"quoted":           "the part before the @ is in quotation marks",
	"comment":          "it has a comment",
	"literal":          "it has an IP address in place of a domain",
	"single_label":     "the domain has no dot",
	"unknown_tld":      "the top-level domain does not exist",
	"special_use":      "the domain is reserved for local use, tests or examples",
	"generated":        "the part before the @ has the form that a service of throw-away mailboxes generates",
	"odd_character":    "it has a replacement character, an apostrophe at its start or a full-width letter, which are seldom meant",
	"looks_disposable": "the domain resembles those of services of throw-away mailboxes",
	"mailbox_form":     "the provider has no mailboxes with such a part before the @, so it may be mistyped",
}

// Because returns the reason and the rule of a verdict; "" if no rule applied.
func (v *Verdict) Because() string {
	if v.Reason == "" || v.Rule == "" {
		return v.Reason + v.Rule
	}
	return v.Reason + ", " + v.Rule
}

// Sentence adds a capital and a full stop to a clause, such as that of a refusal.
func Sentence(clause string) string {
	if clause == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(clause)
	return string(unicode.ToUpper(first)) + clause[size:] + "."
}
