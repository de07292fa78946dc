package dashboard

import (
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/origin/result"
)

// addEvidence says beside each field where it comes from.
func (r *apiResult) addEvidence(facts []factView) []factView {
	d := r.Details
	if d == nil {
		return facts
	}
	for n := range facts {
		switch f := &facts[n]; {
		case f.Field == "role" && d.Role != nil:
			f.Sentence += roleSentence(d.Role)
		case d.Provider != nil && f.Field == d.Provider.Class:
			f.Sentence += providerSentence(d.Provider)
		}
	}
	if d.CanonicalRule == "" {
		return facts
	}
	return append(facts, factView{Field: "canonical", Tone: tonePlain,
		Sentence: fmt.Sprintf("The mailbox is %s: other spellings reach it too, by the rule %q of its provider.", d.Canonical, d.CanonicalRule)})
}

// roleSentence says which word made it a role account.
func roleSentence(e *result.RoleEvidence) string {
	if e.Match == "host" {
		return fmt.Sprintf(" The host %s takes no mail.", e.Word)
	}
	return fmt.Sprintf(" The word is %q.", e.Word)
}

// providerSentence says which entry of the lists matched.
func providerSentence(e *result.ProviderEvidence) string {
	where := " The entry is " + e.Entry
	if e.Subdomains {
		where += ", with every name below it"
	}
	if len(e.Sources) > 0 {
		where += ", from " + strings.Join(e.Sources, ", ")
	}
	return where + "."
}
