// Package result reads the result of one address: the JSON object of 16 fields
// that the module makes, and that every host gives out with the same bytes.
//
// [FlagsOf] returns the few fields that are counted. [Parse] decodes a whole result,
// also one that came from a service.
package result

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

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
// literal. Roles and forms of a later version are left out.
func (r *Result) Subject(hostname string) host.Subject {
	var set host.Fact
	for fact, holds := range map[host.Fact]bool{host.Valid: r.Valid, host.Alias: r.Alias, host.ASCII: r.ASCII, host.HasRole: r.Role != "",
		host.Gibberish: r.Gibberish, host.Disposable: r.Disposable, host.Public: r.Public, host.Relay: r.Relay, host.Typo: r.Typo} {
		if holds {
			set |= fact
		}
	}
	score := uint32(math.Round(100 * min(max(r.GibberishScore, 0), 1)))
	return host.Subject{Facts: host.Reported(set, score, uint32(1+slices.Index(roles, r.Role)), r.form(), hostname), Found: r.found()}
}

// form returns the bits of the form.
func (r *Result) form() (bits uint32) {
	for n, name := range forms {
		if r.Details != nil && slices.Contains(r.Details.Form, name) {
			bits |= 1 << n
		}
	}
	return bits
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
	forms = []string{"quoted", "comment", "literal", "single_label", "unknown_tld", "special_use"}
)

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

// An Exchange is the host that takes the mail of the domain.
type Exchange struct {
	Class         string `json:"class"`
	Provider      string `json:"provider"`
	Entry         string `json:"entry"` // of the lists
	Host          string `json:"host"`  // "" without MX
	AddressRecord *bool  `json:"address_record"`
}

// Sentence says where the mail of the domain goes.
func (e *Exchange) Sentence() string {
	switch {
	case e.Host != "":
		return "Mail goes to " + e.Host + e.owner() + "."
	case e.AddressRecord != nil && *e.AddressRecord:
		return "Mail goes to the address record of the domain."
	case e.AddressRecord != nil:
		return "No address record takes mail for the domain."
	}
	return "The lookup of the domain's address record failed, so it is not known whether mail goes there."
}

// owner says who runs the host.
func (e *Exchange) owner() string {
	kind := cmp.Or(exchangeKinds[e.Class], e.Class) // a later class has no words yet
	switch {
	case e.Class == "own":
		return ", the domain's own host"
	case e.Class == "unknown": // or one of a throw-away service beside others
		return ""
	case e.Provider != "":
		return " of " + e.Provider + ", " + kind
	}
	return ", " + kind
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
	"quoted":       "the part before the @ is in quotation marks",
	"comment":      "it has a comment",
	"literal":      "it has an IP address in place of a domain",
	"single_label": "the domain has no dot",
	"unknown_tld":  "the top-level domain does not exist",
	"special_use":  "the domain is reserved for local use, tests or examples",
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

// Tones of opinions. The dashboard has style classes and the command check colours
// for them; each has words beside its colour.
const (
	ToneGood = "good"
	ToneWarn = "warn"
	ToneBad  = "bad"
)

// Unchecked is the opinion on an address that could not be checked. Its tone is
// ToneWarn.
const Unchecked = "Could not be checked"

// IsLiteral reports whether the domain of a valid address is an address literal, which has no
// MX: mail goes to the IP address (RFC 5321 section 5.1).
func IsLiteral(domain string) bool { return strings.HasPrefix(domain, "[") }

// Opinion returns the tone and the words for an address without a policy: what matters
// most to somebody who wants to send mail to it. lookedUp is whether mx is a fact.
func (r *Result) Opinion(lookedUp bool) (tone, words string) {
	switch {
	case !r.Valid:
		return ToneBad, "Not a valid address"
	case r.Typo:
		return ToneWarn, "Probably mistyped"
	case r.Disposable:
		return ToneBad, "Throw-away mailbox"
	case lookedUp && !r.MX && !IsLiteral(r.Domain): // mail goes to the address record, if there is one (RFC 5321 section 5.1)
		return ToneWarn, "No MX record"
	case r.Gibberish:
		return ToneWarn, "Looks random"
	case r.Role != "":
		return ToneWarn, "Reaches a role, not one person"
	}
	return ToneGood, "Nothing wrong found"
}
