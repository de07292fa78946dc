package dashboard

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// policyRules is a document as the form has it. The form has all that a document can mean,
// so nothing is lost; a document with anything else is edited as JSON alone.
type policyRules struct {
	Allow  ruleList `json:"allow,omitzero"`
	Block  ruleList `json:"block,omitzero"`
	Review ruleList `json:"review,omitzero"`
}

type ruleList struct {
	Domains []string `json:"domains,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// rulesOf returns the rules of a document that was accepted. It returns false for one of
// a later release that has other members.
func rulesOf(document string) (rules policyRules, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.DisallowUnknownFields()
	return rules, decoder.Decode(&rules) == nil
}

// document returns the rules as JSON, with a rule on each line.
func (r policyRules) document() string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // gibberish>=0.8
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(r) // strings: cannot fail
	return strings.TrimSuffix(text.String(), "\n")
}

func (r *policyRules) list(section string) *ruleList {
	return map[string]*ruleList{"allow": &r.Allow, "block": &r.Block, "review": &r.Review}[section]
}

// policySections are the parts of the form, which are members of the document.
var policySections = []policySection{
	{Name: "allow", Title: "Allow", Hint: "Your own domains win over every list below."},
	{Name: "block", Title: "Block", Hint: "An address that is not valid is always blocked."},
	{Name: "review", Title: "Review", Hint: "What review means is yours to define: ask again, or have a person look."},
}

// A policySection is a part of the form. The names of its fields begin with its name.
type policySection struct {
	Name, Title, Hint string

	Boxes   []reasonBox
	Others  string // reasons without a box, one a line
	Domains string // one a line

	OthersFlaw, DomainsFlaw *flaw
}

// A reasonBox is the checkbox of a reason.
type reasonBox struct {
	Reason, Label string
	Checked       bool
}

// reasonBoxes are the reasons that most policies choose from, in the guide's order.
var reasonBoxes = []reasonBox{
	{Reason: "disposable", Label: "throw-away mailbox"},
	{Reason: "no_mail", Label: "no mail arrives: neither MX nor address record"},
	{Reason: "no_mx", Label: "no MX record"},
	{Reason: "typo", Label: "misspelled domain of a large provider"},
	{Reason: "gibberish", Label: "looks random"},
	{Reason: "role", Label: "a role, such as info"},
	{Reason: "public", Label: "public mailbox provider"},
	{Reason: "relay", Label: "forwarding service that hides the mailbox"},
	{Reason: "alias", Label: "plus tag"},
	{Reason: "unknown_tld", Label: "ending that does not exist"},
	{Reason: "special_use", Label: "reserved domain, such as example.com"},
}

// The names of a section's text areas after its own.
const (
	domainsField = ".domains"
	othersField  = ".others"
)

// hasSections reports whether the form's fields were given, not a document.
func (v *visit) hasSections() bool {
	for field := range v.form {
		section, _, found := strings.Cut(field, ".")
		if found && slices.ContainsFunc(policySections, func(s policySection) bool { return s.Name == section }) {
			return true
		}
	}
	return false
}

// sections returns the form of rules, or as it was given if that is shown again.
func (v *visit) sections(rules policyRules) []policySection {
	given := v.policyForm() == rulesForm
	sections := slices.Clone(policySections)
	for n := range sections {
		s := &sections[n]
		s.fill(rules.list(s.Name))
		if given {
			s.Others, s.Domains = v.form.Get(s.Name+othersField), v.form.Get(s.Name+domainsField)
			for b := range s.Boxes {
				s.Boxes[b].Checked = v.form.Has(s.Name + "." + s.Boxes[b].Reason)
			}
		}
	}
	return sections
}

// fill sets the fields to stored rules.
func (s *policySection) fill(rules *ruleList) {
	s.Domains = strings.Join(rules.Domains, "\n")
	if s.Name == "allow" {
		return // it has no reasons
	}
	boxed := map[string]bool{}
	for _, box := range reasonBoxes {
		box.Checked = slices.Contains(rules.Reasons, box.Reason)
		boxed[box.Reason] = true
		s.Boxes = append(s.Boxes, box)
	}
	s.Others = strings.Join(slices.DeleteFunc(slices.Clone(rules.Reasons), func(reason string) bool { return boxed[reason] }), "\n")
}

// rules returns the rules of the form's fields. Reasons keep the order of those that are
// stored, since the first one that applies is given as the reason.
func (v *visit) rules(stored policyRules) (given policyRules) {
	for _, section := range policySections {
		to := given.list(section.Name)
		to.Domains = entriesOf(v.form.Get(section.Name + domainsField))
		var reasons []string
		for _, box := range reasonBoxes {
			if v.form.Has(section.Name + "." + box.Reason) {
				reasons = append(reasons, box.Reason)
			}
		}
		to.Reasons = inOrder(stored.list(section.Name).Reasons, append(reasons, entriesOf(v.form.Get(section.Name+othersField))...))
	}
	return given
}

// entriesOf returns the lines of a text area that are not empty.
func entriesOf(text string) (entries []string) {
	for line := range strings.Lines(text) {
		if entry := strings.TrimSpace(line); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// inOrder returns the elements of wanted, each once: those of before in its order, then the
// others.
func inOrder(before, wanted []string) (ordered []string) {
	missing := map[string]bool{}
	for _, one := range wanted {
		missing[one] = true
	}
	for _, one := range slices.Concat(before, wanted) {
		if missing[one] {
			delete(missing, one)
			ordered = append(ordered, one)
		}
	}
	return ordered
}

// addFlaw shows what is wrong in the document of the form beside the text area that has it,
// if that is one of the section's.
func (s *policySection) addFlaw(form url.Values, document string, refused *host.PolicyError) {
	member, rest, _ := strings.Cut(refused.Place, "[")
	index, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	rules, _ := rulesOf(document)
	switch list := rules.list(s.Name); {
	case err != nil:
	case member == s.Name+".domains" && index < len(list.Domains):
		s.DomainsFlaw = flawOfEntry(form.Get(s.Name+domainsField), list.Domains[index], policySentence(refused))
	case member == s.Name+".reasons" && index < len(list.Reasons):
		s.OthersFlaw = flawOfEntry(form.Get(s.Name+othersField), list.Reasons[index], policySentence(refused))
	}
}

// flawOfEntry returns a flaw at the first line of a text area that has the entry.
func flawOfEntry(text, entry, sentence string) *flaw {
	n := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == entry {
			return flawAt(lines(text), n, 0, sentence)
		}
		n++
	}
	return &flaw{Sentence: sentence}
}

// tested is what a policy decides about an address.
type tested struct {
	Email   string `json:"email"`
	Lookup  string `json:"lookup,omitempty"` // what was supposed of DNS
	Verdict struct {
		Action string  `json:"action"`
		Reason *string `json:"reason"`
		Rule   *string `json:"rule"`
	} `json:"verdict"`
	Entry   string `json:"entry,omitempty"` // of the document, to which rule leads
	Refusal string `json:"refusal,omitempty"`
}

// Tone returns the tone of the verdict.
func (t *tested) Tone() string {
	return map[string]string{"allow": toneGood, "review": result.ToneWarn, "block": toneBad}[t.Verdict.Action]
}

// supposedLookups are what a test can suppose that DNS has, for no_mx and no_mail. A lookup
// would have to be charged, since anybody could use the field to look up any domain.
var supposedLookups = []grace{{"", "nothing is looked up"}, {"mx", "the domain has MX records"},
	{"address", "no MX records, but an address record"}, {"none", "neither MX nor address record"}}

var foundBySupposed = map[string]host.Found{"": 0, "mx": host.LookedUp | host.HasMX,
	"address": host.LookedUp | host.AddressLookedUp | host.FoundAddressRecord, "none": host.LookedUp | host.AddressLookedUp}

// testPolicy decides about an address by the module alone: it looks nothing up, asks the API
// nothing and costs nothing. The document is the one that was given, as it is in a form that
// is not saved, or else the stored one. Address and document are in the body of the request
// and of the response only.
func (d *Dashboard) testPolicy(v *visit) (*outcome, error) {
	page, err := v.policyPage()
	if err != nil {
		return nil, err
	}
	test, found, err := v.givenTest()
	if err != nil {
		return nil, err
	}
	document := page.Document
	if page.Given != "" {
		document, err = v.givenDocument(page)
	}
	if err != nil {
		return nil, err
	}
	err = v.inTurn(v.r.Context(), func() error { return test.decide(v, document, found) })
	if err != nil {
		return page.refused(v, document, err)
	}
	page.Test = test
	return show(page), nil
}

// givenTest returns the address to test, and what was supposed of DNS.
func (v *visit) givenTest() (*tested, host.Found, error) {
	test := &tested{Email: strings.TrimSpace(v.form.Get("email")), Lookup: v.form.Get("lookup")}
	found, known := foundBySupposed[test.Lookup]
	switch {
	case !known:
		return nil, 0, inputProblem("lookup", "The field \"lookup\" must be empty, mx, address or none.")
	case test.Email == "":
		return nil, 0, inputProblem("email", "Give an address to try.")
	}
	return test, found, nil
}

// A policyTest is the part of a form that tries what the form has.
type policyTest struct {
	Policy, Form  string // rulesForm, documentForm, or "" for a stored policy that has neither
	Email, Lookup string // as they were given with this form
	Result        *tested
	Flawed        *problemView // why there is no result
}

// policyTestOf returns the part for a form of the page. Only the form that was given has
// what was given, which may be long. An address alone, as from a program, belongs to the
// document.
func policyTestOf(f *frame, form string) policyTest {
	page := f.Data.(*policyPage)
	test, given := policyTest{Policy: page.Policy.Name, Form: form}, page.Given
	if given == "" && !page.TooLong {
		given = documentForm
	}
	if form != given {
		return test
	}
	test.Email, test.Lookup = f.Value("email"), f.Value("lookup")
	if f.Path == policiesPath+"/"+test.Policy+"/test" { // it was tried, not saved
		test.Result, test.Flawed = page.Test, f.Problem
	}
	return test
}

// decide sets the verdict.
func (t *tested) decide(v *visit, document string, found host.Found) error {
	ctx, view := v.r.Context(), v.Engine.View()
	p, err := v.Engine.NewPolicy(ctx, document)
	if err != nil {
		return err
	}
	facts, err := view.Check(ctx, nil, t.Email, 0)
	if err != nil {
		return err
	}
	verdict, err := view.Verdict(ctx, nil, p, host.Subject{Facts: &facts, Found: found})
	if err != nil {
		return err
	}
	if !facts.Valid {
		t.Refusal = result.Sentence(facts.Refusal.Sentence)
	}
	if err := json.Unmarshal(verdict, &t.Verdict); err != nil || t.Verdict.Rule == nil {
		return err
	}
	t.Entry = entryAt(document, *t.Verdict.Rule)
	return nil
}

// entryAt returns the entry of a document at a place such as block.reasons[1].
func entryAt(document, place string) string {
	member, rest, _ := strings.Cut(place, "[")
	section, kind, _ := strings.Cut(member, ".")
	index, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	rules, ok := rulesOf(document)
	if list := rules.list(section); ok && err == nil && list != nil {
		entries := map[string][]string{"domains": list.Domains, "reasons": list.Reasons}[kind]
		if index >= 0 && index < len(entries) {
			return entries[index]
		}
	}
	return ""
}
