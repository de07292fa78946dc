// Package result reads the result of one address: the JSON object of 16 fields
// that the module makes, and that every host gives out with the same bytes.
//
// [Scan] reads the few fields that are counted, from the module's own bytes,
// without decoding. [Parse] decodes a whole result, also one that came from a
// service.
package result

import "encoding/json"

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
	MX             bool    `json:"mx"`
	Disposable     bool    `json:"disposable"`
	Public         bool    `json:"public"`
	Relay          bool    `json:"relay"`
	Typo           bool    `json:"typo"`
	TypoSuggestion string  `json:"typo_suggestion"`

	Details *Details `json:"details"` // nil unless asked for
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
	err = json.Unmarshal(text, &r)
	return r, err
}

// Flags returns the fields that are counted.
func (r *Result) Flags() Flags {
	return Flags{Valid: r.Valid, Role: r.Role != "", Gibberish: r.Gibberish,
		Disposable: r.Disposable, Public: r.Public, Relay: r.Relay, Typo: r.Typo}
}
