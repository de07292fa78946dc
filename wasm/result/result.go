// Package result reads the result of one address: the JSON object of 16 fields
// that the module makes, and that every host gives out with the same bytes.
//
// [FlagsOf] returns the few fields that are counted. [Parse] decodes a whole result,
// also one that came from a service.
package result

import (
	"encoding/json"

	"github.com/addrspec/addrspec/wasm/host"
)

// A Result has the fields of the contract in their order. A field that is null is
// "" here.
type Result struct {
	Email          string  `json:"email"`
	Valid          bool    `json:"valid"`
	Normalized     string  `json:"normalized"`
	LocalPart      string  `json:"local_part"`
	Domain         string  `json:"domain"`
	Alias          bool    `json:"alias"`
	ASCII          bool    `json:"ascii"`
	Role           string  `json:"role"`
	Gibberish      bool    `json:"gibberish"`
	GibberishScore float64 `json:"gibberish_score"`
	MX             bool    `json:"mx"` // false also if it is null
	Disposable     bool    `json:"disposable"`
	Public         bool    `json:"public"`
	Relay          bool    `json:"relay"`
	Typo           bool    `json:"typo"`
	TypoSuggestion string  `json:"typo_suggestion"`

	Details *Details `json:"details"` // nil unless asked for

	MXNull bool `json:"-"` // mx is null: nothing was looked up
}

// Details is the evidence for a result, on request.
type Details struct {
	Refusal       *Refusal          `json:"refusal"`
	Canonical     string            `json:"canonical"`
	CanonicalRule string            `json:"canonical_rule"`
	Role          *RoleEvidence     `json:"role_evidence"`
	Provider      *ProviderEvidence `json:"provider_evidence"`
}

// A Refusal is why an address is not valid.
type Refusal struct {
	Code     string `json:"code"`     // stable, such as "local_part_too_long"
	Offset   int    `json:"offset"`   // of the offending byte
	Section  string `json:"section"`  // of the standard
	Sentence string `json:"sentence"` // what is wrong and how to fix it
}

// RoleEvidence is the word that made an address a role account.
type RoleEvidence struct {
	Word  string `json:"word"`
	Match string `json:"match"`
}

// ProviderEvidence is the entry of the lists that matched the domain.
type ProviderEvidence struct {
	Entry      string   `json:"entry"`
	Class      string   `json:"class"`
	Subdomains bool     `json:"subdomains"`
	Sources    []string `json:"sources"`
}

// Parse decodes a result.
func Parse(text []byte) (r Result, err error) {
	nullable := struct {
		*Result
		MX *bool `json:"mx"`
	}{Result: &r}
	err = json.Unmarshal(text, &nullable)
	if r.MXNull = nullable.MX == nil; !r.MXNull {
		r.MX = *nullable.MX
	}
	return r, err
}

// Flags are the fields of a result that are counted.
type Flags struct {
	Valid, Role, Gibberish, Disposable, Public, Relay, Typo bool
}

// FlagsOf returns the flags of the module's result.
func FlagsOf(f *host.Facts) Flags {
	return Flags{f.Valid, f.Has(host.HasRole), f.Has(host.Gibberish),
		f.Has(host.Disposable), f.Has(host.Public), f.Has(host.Relay), f.Has(host.Typo)}
}

// Flags returns the fields that are counted.
func (r *Result) Flags() Flags {
	return Flags{Valid: r.Valid, Role: r.Role != "", Gibberish: r.Gibberish,
		Disposable: r.Disposable, Public: r.Public, Relay: r.Relay, Typo: r.Typo}
}

// Tones of verdicts. The dashboard has style classes and the command check colours
// for them; each has words beside its colour.
const (
	ToneGood = "good"
	ToneWarn = "warn"
	ToneBad  = "bad"
)

// Unchecked is the verdict of an address that could not be checked. Its tone is
// ToneWarn.
const Unchecked = "Could not be checked"

// Verdict returns the tone and the words for an address: what matters most to
// somebody who wants to send mail to it. lookedUp is whether mx is a fact.
func (r *Result) Verdict(lookedUp bool) (tone, words string) {
	switch {
	case !r.Valid:
		return ToneBad, "Not a valid address"
	case r.Typo:
		return ToneWarn, "Probably mistyped"
	case r.Disposable:
		return ToneBad, "Throw-away mailbox"
	case lookedUp && !r.MX: // mail goes to the address record, if there is one (RFC 5321 section 5.1)
		return ToneWarn, "No MX record"
	case r.Gibberish:
		return ToneWarn, "Looks random"
	case r.Role != "":
		return ToneWarn, "Reaches a role, not one person"
	}
	return ToneGood, "Nothing wrong found"
}
