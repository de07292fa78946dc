package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/wasm/host"
)

// policiesPath is the page Policies; each policy has a page below it.
const policiesPath = "/dashboard/policies"

// policiesView is the page Policies.
type policiesView struct {
	Policies []policyItem `json:"policies"`
	Max      int          `json:"max"`
	Bytes    int64        `json:"bytes"` // of all documents
	MaxBytes int64        `json:"max_bytes"`
}

// A policyItem is a policy without its document.
type policyItem struct {
	Name    string    `json:"name"`
	Version int64     `json:"version"`
	Changed time.Time `json:"changed"`
	Bytes   int64     `json:"bytes"`
	Keys    []keyName `json:"keys"` // that have it as their default
}

// A keyName is a key in a list of names.
type keyName struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Test bool   `json:"test"`
}

func (d *Dashboard) policies(v *visit) (any, error) {
	list, err := d.Ledger.Policies(v.r.Context(), v.user.Account)
	if err != nil {
		return nil, err
	}
	keys, err := v.keysByPolicy()
	view := policiesView{Policies: []policyItem{}, Max: book.MaxPolicies, MaxBytes: book.MaxPolicyStorage}
	for _, p := range list {
		view.Policies = append(view.Policies, viewOfPolicy(p, keys))
		view.Bytes += p.Size
	}
	return view, err
}

func viewOfPolicy(p book.Policy, keys map[string][]keyName) policyItem {
	return policyItem{p.Name, p.Version, p.Changed, p.Size, append([]keyName{}, keys[p.Name]...)}
}

// keysByPolicy returns the keys that have a default policy, by its name. An account has a
// thousand keys that are not revoked at most.
func (v *visit) keysByPolicy() (map[string][]keyName, error) {
	list, err := v.Ledger.ListKeys(v.r.Context(), v.user.Account, book.KeyPage{})
	keys := map[string][]keyName{}
	for _, k := range list {
		if k.Policy != "" {
			keys[k.Policy] = append(keys[k.Policy], keyName{k.ID, k.Name, k.Test})
		}
	}
	return keys, err
}

// policyNames returns the names that a key's default can have.
func (v *visit) policyNames() (names []string, err error) {
	list, err := v.Ledger.Policies(v.r.Context(), v.user.Account)
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names, err
}

// createPolicy creates a policy from a document and leads to its page.
func (d *Dashboard) createPolicy(v *visit) (*outcome, error) {
	name := strings.TrimSpace(v.form.Get("name"))
	if err := book.CheckPolicyName(name); err != nil {
		return nil, inputProblem("name", sentence(err))
	}
	document, err := v.firstDocument()
	if err != nil {
		return nil, err
	}
	err = v.storePolicy(name, document, 0)
	if errors.Is(err, book.ErrPolicyChanged) {
		return nil, &problem{status: http.StatusConflict, code: "POLICY_EXISTS", field: "name", input: true, sentence: "The account has a policy with this name. Give another name, or edit that one."}
	}
	return redirect(policiesPath+"/"+name, "policy-created"), policyProblem(err)
}

// firstDocument returns the document that was given for a new policy, or that of the guide
// which was chosen.
func (v *visit) firstDocument() (string, error) {
	if v.form.Has("document") {
		return lines(v.form.Get("document")), nil
	}
	start := v.form.Get("start")
	if start == "" {
		return "{}", nil
	}
	for _, p := range docs.Policies() {
		if p.Name == start {
			return p.Document, nil
		}
	}
	return "", inputProblem("start", "The field \"start\" must name a policy of the guide.")
}

// storePolicy stores a document in place of a version of a policy, if it is a policy.
func (v *visit) storePolicy(name, document string, version int64) error {
	err := v.inTurn(v.r.Context(), func() error {
		_, err := v.Engine.NewPolicy(v.r.Context(), document)
		return err
	})
	if err != nil {
		return err
	}
	_, err = v.Ledger.ReplacePolicy(v.r.Context(), v.user.Account, name, document, version)
	return err
}

// policyProblem returns an error of a change to a policy as a problem with the form.
func policyProblem(err error) error {
	refused, ok := errors.AsType[*host.PolicyError](err)
	switch {
	case ok:
		return inputProblem("document", policySentence(refused))
	case errors.Is(err, book.ErrTooManyPolicies), errors.Is(err, book.ErrPolicyStorage):
		return inputProblem("", sentence(err))
	}
	return err
}

// policySentence returns what is wrong with a document. It begins with a place, which is a
// name, so that is left as it is.
func policySentence(refused *host.PolicyError) string {
	if strings.HasSuffix(refused.Sentence, "?") {
		return refused.Sentence
	}
	return refused.Sentence + "."
}

// lines returns the text of a text area with the line breaks that it was shown with.
func lines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// policyPage is the page of one policy.
type policyPage struct {
	Policy   policyItem `json:"policy"`
	Document string     `json:"document"` // as it was given
	Flaw     *flaw      `json:"-"`        // of what was given instead
	Test     *tested    `json:"test,omitempty"`
	Given    string     `json:"-"` // the form that was given: rulesForm, documentForm or neither

	Sections []policySection `json:"-"` // of the form; nil if the document has what the form has not
	TooLong  bool            `json:"-"` // for a form
}

// maxDocument is how many bytes the form of a policy may have.
const maxDocument = 1 << 20

// The forms of a policy. The names begin the IDs of their elements.
const (
	rulesForm    = "rules"
	documentForm = "document"
)

// PageTitle returns the title of the page.
func (p *policyPage) PageTitle() string { return "Policy " + p.Policy.Name }

func (d *Dashboard) policyPage(v *visit) (any, error) { return v.policyPage() }

func (v *visit) policyPage() (*policyPage, error) {
	stored, err := v.ownPolicy()
	if err != nil {
		return nil, err
	}
	keys, err := v.keysByPolicy()
	page := &policyPage{Policy: viewOfPolicy(stored, keys), Document: stored.Document, Given: v.policyForm()}
	page.TooLong = len(page.Document) > maxDocument/3 && len(url.QueryEscape(page.Document)) > maxDocument-maxForm
	if rules, ok := rulesOf(stored.Document); ok && !page.TooLong {
		page.Sections = v.sections(rules)
	}
	return page, err
}

// ownPolicy returns the account's policy with the name of the path.
func (v *visit) ownPolicy() (book.Policy, error) {
	name := v.r.PathValue("name")
	if book.CheckPolicyName(name) != nil {
		return book.Policy{}, errNotFound
	}
	return v.Ledger.Policy(v.r.Context(), v.user.Account, name)
}

// changePolicy replaces the document of a policy. Somebody who has begun with another
// version than the stored one, as in a second tab, gets the page again, with what was
// entered, and decides.
func (d *Dashboard) changePolicy(v *visit) (*outcome, error) {
	page, err := v.policyPage()
	if err != nil {
		return nil, err
	}
	document, err := v.givenDocument(page)
	if err != nil {
		return nil, err
	}
	version, err := v.policyVersion(page)
	if err != nil {
		return nil, err
	}
	err = v.storePolicy(page.Policy.Name, document, version)
	if errors.Is(err, book.ErrPolicyChanged) {
		return page.changedMeanwhile(v)
	}
	if err != nil {
		return page.refused(v, document, err)
	}
	return redirect(v.r.URL.Path, "policy-changed"), nil
}

// refused shows the page again with what is wrong beside the field that has it, if err is
// why a document is no policy.
func (p *policyPage) refused(v *visit, document string, err error) (*outcome, error) {
	refused, ok := errors.AsType[*host.PolicyError](err)
	if !ok {
		return nil, policyProblem(err)
	}
	if p.Given == documentForm {
		p.Flaw = flawOf(document, refused)
	} else {
		for n := range p.Sections {
			p.Sections[n].addFlaw(v.form, document, refused)
		}
	}
	return &outcome{data: p, refused: problemOf(policyProblem(err))}, nil
}

// policyVersion returns the version that somebody began with. A program may leave it out,
// to replace any.
func (v *visit) policyVersion(page *policyPage) (int64, error) {
	if !v.form.Has("version") {
		return page.Policy.Version, nil
	}
	version, err := strconv.ParseInt(v.form.Get("version"), 10, 64)
	if err != nil || version < 0 {
		err = inputProblem("version", "The version must be the number that the page has.")
	}
	return version, err
}

// policyForm returns which form of a policy was given; "" for none.
func (v *visit) policyForm() string {
	switch {
	case v.form.Has("document"):
		return documentForm
	case v.hasSections():
		return rulesForm
	}
	return ""
}

// givenDocument returns the document that was given, or that of the form's fields.
func (v *visit) givenDocument(page *policyPage) (string, error) {
	rules, ok := rulesOf(page.Document)
	switch {
	case page.Given == documentForm:
		return lines(v.form.Get("document")), nil
	case page.Given == rulesForm && ok:
		return v.rules(rules).document(), nil
	}
	return "", inputProblem("document", "Give the document of the policy.")
}

// changedMeanwhile shows the page with what was entered. Its form has the version that is
// stored now, so that a second try replaces it.
func (p *policyPage) changedMeanwhile(v *visit) (*outcome, error) {
	given := v.form.Get("version")
	v.form.Set("version", strconv.FormatInt(p.Policy.Version, 10))
	return &outcome{data: p, refused: &problem{status: http.StatusConflict, code: "POLICY_CHANGED", field: "version",
		sentence: fmt.Sprintf("The policy was changed since this page was opened: you began with version %s, and now it has version %d. Nothing was saved. What you entered is below; save it again to replace the other change, or load the page to see that.", visible(given), p.Policy.Version)}}, nil
}

// deletePolicy deletes a policy that is no key's default.
func (d *Dashboard) deletePolicy(v *visit) (*outcome, error) {
	page, err := v.policyPage()
	if err != nil {
		return nil, err
	}
	err = d.Ledger.DeletePolicy(v.r.Context(), v.user.Account, page.Policy.Name)
	if errors.Is(err, book.ErrPolicyInUse) {
		return nil, page.inUse()
	}
	return redirect(policiesPath, "policy-deleted"), err
}

// inUse says which keys have the policy as their default.
func (p *policyPage) inUse() *problem {
	names := "a key"
	if n := len(p.Policy.Keys); n > 0 { // else one became so just now
		names = "the key “" + p.Policy.Keys[0].Name + "”"
		if n > 1 {
			names += " and " + count(int64(n-1), "more key")
		}
	}
	return &problem{status: http.StatusConflict, code: "POLICY_IN_USE", input: true,
		sentence: "The policy is the default of " + names + ". Give the key another default first, or none."}
}

// A flaw is what is wrong in a text of several lines, and where.
type flaw struct {
	Sentence string
	Line     int // 0 for the whole text
	Lines    []flawLine
}

// Heading names the line, unless the sentence does.
func (f *flaw) Heading() string {
	if f.Line == 0 || strings.HasPrefix(f.Sentence, "line ") {
		return ""
	}
	return "Line " + strconv.Itoa(f.Line)
}

// A flawIn is a flaw with the ID of its element.
type flawIn struct {
	ID   string
	Flaw *flaw
}

// A flawLine is a line of the text beside the flaw.
type flawLine struct {
	Number int
	Text   string
	Here   bool
}

// flawOf returns why a document is no policy.
func flawOf(document string, refused *host.PolicyError) *flaw {
	if strings.HasPrefix(refused.Sentence, "the document: it has ") { // too much of something
		return &flaw{Sentence: policySentence(refused)}
	}
	line, column := refused.Position(document)
	return flawAt(document, line-1, column-1, policySentence(refused))
}

// flawAt returns a flaw at a line and a byte in it, both from 0, with the lines around it.
func flawAt(text string, line, at int, sentence string) *flaw {
	f := &flaw{Sentence: sentence, Line: line + 1}
	all := strings.Split(text, "\n")
	for n := max(0, line-2); n <= line+2 && n < len(all); n++ {
		around := 0
		if n == line {
			around = at
		}
		f.Lines = append(f.Lines, flawLine{n + 1, visible(cutAround(all[n], around)), n == line})
	}
	return f
}

// flawWidth is how many bytes of a line are shown around a flaw.
const flawWidth = 120

// cutAround returns the part of a line around a byte of it.
func cutAround(line string, at int) string {
	from := 0
	if at > flawWidth/2 {
		from = at - flawWidth/2
	}
	part := strings.ToValidUTF8(line[from:min(len(line), from+flawWidth)], "")
	if from > 0 {
		part = "…" + part
	}
	if from+flawWidth < len(line) {
		part += "…"
	}
	return part
}
