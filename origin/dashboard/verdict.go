package dashboard

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/origin/result"
)

// Tones of verdicts and facts. They are class names of the style sheet; each has
// a word beside its colour.
const (
	toneGood  = result.ToneGood
	toneWarn  = result.ToneWarn
	toneBad   = result.ToneBad
	tonePlain = "plain"
)

// apiResult is the result of an address in the API's JSON.
type apiResult struct{ result.Result }

// A checkedView is one address with what was found.
type checkedView struct {
	Email   string     `json:"email"`
	Tone    string     `json:"tone"`
	Verdict string     `json:"verdict"`
	Reason  string     `json:"reason,omitempty"`
	Facts   []factView `json:"facts,omitempty"`
	Fix     string     `json:"suggestion,omitempty"` // the address with the suggested domain
	Domains string     `json:"-"`                    // the misspelled domain and the suggested one
	ShowWhy bool       `json:"-"`                    // checking the address alone shows the reason
	Result  any        `json:"result,omitempty"`     // as the API gave it
	Problem string     `json:"error_code,omitempty"` // of an address that could not be checked
}

// A factView is one field of the result in words.
type factView struct {
	Field    string `json:"field"`
	Tone     string `json:"tone"`
	Sentence string `json:"sentence"`
	Notable  bool   `json:"notable"` // shown in a list of many addresses
}

// viewOfResult puts a result into words.
func viewOfResult(raw json.RawMessage) (checkedView, error) {
	parsed, err := result.Parse(raw)
	r := apiResult{parsed}
	if err != nil {
		return checkedView{}, err
	}
	view := checkedView{Email: r.Email, Result: raw}
	view.Tone, view.Verdict = r.Verdict(true)
	if !r.Valid {
		return view, nil
	}
	view.Facts = r.addEvidence(r.facts())
	if r.Typo {
		suggested := domainOf(r.TypoSuggestion)
		view.Fix = replaceDomain([]string{r.Email}, r.Domain, suggested)[0]
		view.Domains = r.Domain + " " + suggested
	}
	return view, nil
}

// facts returns each field of a valid address in words.
func (r *apiResult) facts() []factView {
	return []factView{
		{"valid", toneGood, "It follows the standards of addresses (RFC 5321, 5322, 6531).", false},
		pick("mx", r.MX, !r.MX, factView{Tone: toneGood, Sentence: r.Domain + " has an MX record: a mail server is named for it."},
			factView{Tone: toneBad, Sentence: r.Domain + " has no MX record that names a mail server."}),
		pick("typo", r.Typo, r.Typo, factView{Tone: toneWarn, Sentence: r.Domain + " looks like a misspelling of " + domainOf(r.TypoSuggestion) + "."},
			factView{Tone: toneGood, Sentence: r.Domain + " does not look like a misspelling of a common provider."}),
		pick("disposable", r.Disposable, r.Disposable, factView{Tone: toneBad, Sentence: r.Domain + " belongs to a provider of throw-away mailboxes."},
			factView{Tone: toneGood, Sentence: r.Domain + " is not known for throw-away mailboxes."}),
		pick("gibberish", r.Gibberish, r.Gibberish, factView{Tone: toneWarn, Sentence: fmt.Sprintf("The part before the @ looks random: score %.2f, where 0.50 and more count as random.", r.GibberishScore)},
			factView{Tone: toneGood, Sentence: fmt.Sprintf("The part before the @ does not look random: score %.2f, below 0.50.", r.GibberishScore)}),
		pick("role", r.Role != "", r.Role != "", factView{Tone: toneWarn, Sentence: "The part before the @ names a role (" + r.Role + "), so several people may read the mail, or nobody."},
			factView{Tone: toneGood, Sentence: "The part before the @ names no role such as support or sales."}),
		pick("public", r.Public, false, factView{Tone: tonePlain, Sentence: "Anybody can open a mailbox at " + r.Domain + "."},
			factView{Tone: tonePlain, Sentence: r.Domain + " is not known as a public mailbox provider."}),
		pick("relay", r.Relay, r.Relay, factView{Tone: tonePlain, Sentence: r.Domain + " forwards mail and hides the address of the person behind it."},
			factView{Tone: tonePlain, Sentence: r.Domain + " is not known as a forwarding service."}),
		pick("alias", r.Alias, false, factView{Tone: tonePlain, Sentence: "It has a plus tag; most providers deliver to the address without it."},
			factView{Tone: tonePlain, Sentence: "It has no plus tag."}),
		pick("ascii", r.ASCII, !r.ASCII, factView{Tone: tonePlain, Sentence: "All characters are ASCII."},
			factView{Tone: tonePlain, Sentence: "It has characters beyond ASCII (RFC 6531), which some mail servers refuse."}),
		pick("normalized", r.Normalized != r.Email, false, factView{Tone: tonePlain, Sentence: "Its normal form is " + r.Normalized + "."},
			factView{Tone: tonePlain, Sentence: "It is in normal form already."}),
	}
}

// pick returns the fact for a field that is set, or for one that is not.
func pick(field string, set, notable bool, yes, no factView) factView {
	fact := no
	if set {
		fact = yes
	}
	fact.Field, fact.Notable = field, notable
	return fact
}

// domainOf returns the domain of a suggestion, which --typo-suggestion may make a
// full address.
func domainOf(suggestion string) string {
	return suggestion[strings.LastIndexByte(suggestion, '@')+1:]
}
