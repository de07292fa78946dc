// Package result reads the result of one address: the JSON object of 16 fields
// that the module makes, and that every host gives out with the same bytes.
//
// [FlagsOf] returns the few fields that are counted. [Parse] decodes a whole result,
// also one that came from a service. [Result.Facts] and [Result.Opinion] put it into words:
// whatever shows facts to people or assistants has them from here.
package result

import (
	"encoding/json"
	"math"
	"slices"

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
	Verdict Verdict  `json:"verdict"` // zero without a policy

	MXNull bool `json:"-"` // mx is null: nothing was looked up
}

// Details is the evidence for a result, on request.
type Details struct {
	Refusal       *Refusal          `json:"refusal"`
	Canonical     string            `json:"canonical"`
	CanonicalRule string            `json:"canonical_rule"`
	Role          *RoleEvidence     `json:"role_evidence"`
	Provider      *ProviderEvidence `json:"provider_evidence"`
	Form          []string          `json:"form"`     // what is unusual about the address
	Exchange      *Exchange         `json:"exchange"` // nil if MX was not looked up
}

// A Verdict is what a policy decides about an address.
type Verdict struct {
	Action string `json:"action"` // Allow, Review or Block
	Reason string `json:"reason"` // "" if no rule applied
	Rule   string `json:"rule"`   // its place in the policy, such as "block.reasons[1]"; "" if there is none
}

// The actions of a verdict.
const (
	Allow  = "allow"
	Review = "review"
	Block  = "block"
)

// Subject returns what a policy needs to know about an address that another host has checked
// with details, as a service does. hostname is the domain in A-label form, "" for an address
// literal. Roles and forms of a later version are left out, and so are the exchanges, which a
// result does not have.
func (r *Result) Subject(hostname string) host.Subject {
	var set host.Fact
	for fact, holds := range map[host.Fact]bool{host.Valid: r.Valid, host.Alias: r.Alias, host.ASCII: r.ASCII, host.HasRole: r.Role != "",
		host.Gibberish: r.Gibberish, host.Disposable: r.Disposable, host.Public: r.Public, host.Relay: r.Relay, host.Typo: r.Typo} {
		if holds {
			set |= fact
		}
	}
	var form uint32
	for n, name := range forms {
		if r.Details != nil && slices.Contains(r.Details.Form, name) {
			form |= 1 << n
		}
	}
	score := uint32(math.Round(100 * min(max(r.GibberishScore, 0), 1)))
	facts := host.Reported(set, score, uint32(1+slices.Index(roles, r.Role)), form, hostname)
	return host.Subject{Facts: facts, Address: r.Email, Found: r.found()}
}

// found returns what the other host looked up. The address record is in the details.
func (r *Result) found() host.Found {
	if r.MXNull {
		return 0
	}
	l := host.Lookup{MX: r.MX}
	if r.Details != nil && r.Details.Exchange != nil && r.Details.Exchange.AddressRecord != nil {
		l.AddressRecord = host.AddressAbsent
		if *r.Details.Exchange.AddressRecord {
			l.AddressRecord = host.AddressPresent
		}
	}
	return l.Found()
}

// The roles and the forms in the order of word 1 of the report (ABI.md).
var (
	roles = []string{"Admin", "Support", "Sales", "Marketing", "General", "NoReply", "Billing", "Legal", "IT", "HR"}
	forms = []string{"quoted", "comment", "literal", "single_label", "unknown_tld", "special_use",
		"generated", "odd_character", "looks_disposable", "mailbox_form"}
)

// A Refusal is why an address is not valid.
type Refusal struct {
	Code     string `json:"code"`     // stable, such as "local_part_too_long"
	Offset   int    `json:"offset"`   // of the offending byte
	Section  string `json:"section"`  // of the standard
	Sentence string `json:"sentence"` // what is wrong and how to fix it

	Suggestion string `json:"suggestion"` // the address that is meant; "" if there is none, and without details
}

// Message says what is wrong, how to fix it, and which address is meant.
func (r *Refusal) Message() string {
	if r.Suggestion == "" {
		return r.Sentence
	}
	return r.Sentence + "; did you mean " + r.Suggestion + "?"
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

// An Exchange is the host that takes the mail of the domain.
type Exchange struct {
	Class         string `json:"class"`
	Provider      string `json:"provider"`
	Entry         string `json:"entry"` // of the lists
	Host          string `json:"host"`  // "" without MX
	AddressRecord *bool  `json:"address_record"`
}

// Parse decodes a result.
func Parse(text []byte) (r Result, err error) {
	nullable := struct {
		*Result
		MX *bool `json:"mx"`
	}{Result: &r}
	err = json.Unmarshal(text, &nullable)
	r.MXNull = nullable.MX == nil
	if !r.MXNull {
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
