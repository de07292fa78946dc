package mcp

import "encoding/json"

// details is the evidence for a result.
type details struct {
	Refusal          *refusal          `json:"refusal" jsonschema:"Why the address is not valid; null if it is."`
	Canonical        *string           `json:"canonical" jsonschema:"The identity of the mailbox under its provider's published rules, such as dots that do not count at Gmail. If two addresses have the same value, it is the same mailbox. If the values differ, nothing follows. Do not send mail to it. null unless valid."`
	CanonicalRule    *string           `json:"canonical_rule" jsonschema:"The name of the provider's rule; null if none is known."`
	RoleEvidence     *roleEvidence     `json:"role_evidence" jsonschema:"What made it a role account; null if it is none."`
	ProviderEvidence *providerEvidence `json:"provider_evidence" jsonschema:"The entry of the lists that matched the domain; null if none did."`
	TypoEvidence     *typoEvidence     `json:"typo_evidence" jsonschema:"The edits from the domain to the suggested one; null if it is no typo."`
	Versions         versions          `json:"versions" jsonschema:"Of what produced the result."`
}

type refusal struct {
	Code     string `json:"code" jsonschema:"A stable name, such as local_part_two_dots."`
	Offset   int    `json:"offset" jsonschema:"Of the offending byte in the address, from 0."`
	Section  string `json:"section" jsonschema:"Of the standard that it rests on."`
	Sentence string `json:"sentence" jsonschema:"What is wrong and how to fix it."`
}

type roleEvidence struct {
	Word       string   `json:"word" jsonschema:"The word of a role that was found."`
	Match      string   `json:"match" jsonschema:"How the local part has the word: word (alone), separated (with separators in it), glued (to a qualifier), part (after another word), host (the domain takes no mail by design)."`
	Qualifiers []string `json:"qualifiers" jsonschema:"Regions, languages, departments or numbers beside it."`
}

type providerEvidence struct {
	Entry      string   `json:"entry" jsonschema:"The domain in the lists."`
	Class      string   `json:"class" jsonschema:"disposable, public, relay, no_mail (a host that takes no mail by design) or known (in use, so no misspelling)."`
	Subdomains bool     `json:"subdomains" jsonschema:"The entry covers its subdomains."`
	Sources    []string `json:"sources" jsonschema:"The lists that have it."`
}

type typoEvidence struct {
	Target string `json:"target" jsonschema:"The suggested domain."`
	Edits  []edit `json:"edits" jsonschema:"From the domain to the target."`
}

type edit struct {
	Kind string `json:"kind" jsonschema:"Such as transposition."`
	At   int    `json:"at" jsonschema:"The position, from 0."`
	From string `json:"from,omitempty" jsonschema:"What is there."`
	To   string `json:"to,omitempty" jsonschema:"What was probably meant."`
}

type versions struct {
	Engine string `json:"engine" jsonschema:"The checks."`
	Lists  string `json:"lists" jsonschema:"The lists; it begins with their date."`
	Model  string `json:"model" jsonschema:"The model that scores gibberish."`
}

// detailsOf reads the member details of a result.
func detailsOf(object []byte) (details, error) {
	var r struct{ Details details }
	err := json.Unmarshal(object, &r)
	return r.Details, err
}
