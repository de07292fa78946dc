package dashboard

import (
	"fmt"
	"strings"
)

// apiDetails is the member details of a result, which Try it asks for when it
// checks one address.
type apiDetails struct {
	Canonical     string            `json:"canonical"`
	CanonicalRule string            `json:"canonical_rule"`
	Role          *roleEvidence     `json:"role_evidence"`
	Provider      *providerEvidence `json:"provider_evidence"`
}

type roleEvidence struct {
	Word  string `json:"word"`
	Match string `json:"match"`
}

type providerEvidence struct {
	Entry      string   `json:"entry"`
	Class      string   `json:"class"`
	Subdomains bool     `json:"subdomains"`
	Sources    []string `json:"sources"`
}

// addEvidence says beside each field where it comes from.
func (r *apiResult) addEvidence(facts []factView) []factView {
	d := r.Details
	if d == nil {
		return facts
	}
	for n := range facts {
		switch f := &facts[n]; {
		case f.Field == "role" && d.Role != nil:
			f.Sentence += d.Role.sentence()
		case d.Provider != nil && f.Field == d.Provider.Class:
			f.Sentence += d.Provider.sentence()
		}
	}
	if d.CanonicalRule == "" {
		return facts
	}
	return append(facts, factView{Field: "canonical", Tone: tonePlain,
		Sentence: fmt.Sprintf("The mailbox is %s: other spellings reach it too, by the rule %q of its provider.", d.Canonical, d.CanonicalRule)})
}

func (e *roleEvidence) sentence() string {
	if e.Match == "host" {
		return fmt.Sprintf(" The host %s takes no mail.", e.Word)
	}
	return fmt.Sprintf(" The word is %q.", e.Word)
}

func (e *providerEvidence) sentence() string {
	where := " The entry is " + e.Entry
	if e.Subdomains {
		where += ", with every name below it"
	}
	if len(e.Sources) > 0 {
		where += ", from " + strings.Join(e.Sources, ", ")
	}
	return where + "."
}
