package account

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// PoliciesPath is the page Policies; each policy has a page below it.
const PoliciesPath = "/dashboard/policies"

// PoliciesView is the page Policies.
type PoliciesView struct {
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
	Keys    []KeyName `json:"keys"` // that have it as their default
}

// A KeyName is a key in a list of names.
type KeyName struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Test bool   `json:"test"`
}

func policies(v *page.Visit) (any, error) {
	list, err := v.Ledger.Policies(v.Context(), v.User.Account)
	if err != nil {
		return nil, err
	}
	keys, err := keysByPolicy(v)
	view := PoliciesView{Policies: []policyItem{}, Max: book.MaxPolicies, MaxBytes: book.MaxPolicyStorage}
	for _, p := range list {
		view.Policies = append(view.Policies, viewOfPolicy(p, keys))
		view.Bytes += p.Size
	}
	return view, err
}

func viewOfPolicy(p book.Policy, keys map[string][]KeyName) policyItem {
	return policyItem{p.Name, p.Version, p.Changed, p.Size, append([]KeyName{}, keys[p.Name]...)}
}

// keysByPolicy returns the keys that have a default policy, by its name. An account has a
// thousand keys that are not revoked at most.
func keysByPolicy(v *page.Visit) (map[string][]KeyName, error) {
	list, err := v.Ledger.ListKeys(v.Context(), v.User.Account, book.KeyPage{})
	keys := map[string][]KeyName{}
	for _, k := range list {
		if k.Policy != "" {
			keys[k.Policy] = append(keys[k.Policy], KeyName{k.ID, k.Name, k.Test})
		}
	}
	return keys, err
}

func policyNames(v *page.Visit) (names []string, err error) {
	list, err := v.Ledger.Policies(v.Context(), v.User.Account)
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names, err
}

func createPolicy(v *page.Visit) (*page.Outcome, error) {
	name := strings.TrimSpace(v.Form.Get("name"))
	if err := book.CheckPolicyName(name); err != nil {
		return nil, page.InputProblem("name", page.Sentence(err))
	}
	document := "{}"
	switch start := v.Form.Get("start"); {
	case v.Form.Has("document"):
		document = lines(v.Form.Get("document"))
	case start != "":
		begin := slices.IndexFunc(docs.Policies(), func(p docs.Policy) bool { return p.Name == start })
		if begin < 0 {
			return nil, page.InputProblem("start", "The field \"start\" must name a policy of the guide.")
		}
		document = docs.Policies()[begin].Document
	}
	err := storePolicy(v, name, document, 0)
	if errors.Is(err, book.ErrPolicyChanged) {
		return nil, &page.Problem{Status: http.StatusConflict, Code: "POLICY_EXISTS", Field: "name", Input: true,
			Sentence: "The account has a policy with this name. Give another name, or edit that one."}
	}
	return page.Redirect(PoliciesPath+"/"+name, "policy-created"), policyProblem(err)
}

// storePolicy stores a document in place of a version of a policy, if it is a policy.
func storePolicy(v *page.Visit, name, document string, version int64) error {
	err := v.InTurn(v.Context(), func() error {
		_, err := v.Engine.NewPolicy(v.Context(), document)
		return err
	})
	if err != nil {
		return err
	}
	_, err = v.Ledger.ReplacePolicy(v.Context(), v.User.Account, name, document, version)
	return err
}

func policyProblem(err error) error {
	refused, ok := errors.AsType[*host.PolicyError](err)
	switch {
	case ok:
		return page.InputProblem("document", policySentence(refused))
	case errors.Is(err, book.ErrTooManyPolicies), errors.Is(err, book.ErrPolicyStorage):
		return page.InputProblem("", page.Sentence(err))
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

// PolicyPage is the page of one policy. Its form has the document alone: the ticks are a view
// of the document, which policy.js keeps, so that no way to edit it loses what the other did.
type PolicyPage struct {
	Policy   policyItem `json:"policy"`
	Document string     `json:"document"` // as it was given
	Flaw     *flaw      `json:"-"`        // of what was given instead
	Test     *tested    `json:"test,omitempty"`
	Tried    bool       `json:"-"` // an address was tried, or would have been
	TooLong  bool       `json:"-"` // for a form
}

// MaxDocument is how many bytes the form of a policy may have.
const MaxDocument = 1 << 20

// PageTitle returns the title of the page.
func (p *PolicyPage) PageTitle() string { return "Policy " + p.Policy.Name }

// A policySection is a member of the document, with the reasons that have a checkbox.
type policySection struct {
	Name, Title, Hint string
	Reasons           []policyReason
}

type policyReason struct{ Name, Label string }

// policyReasons are the reasons that most policies choose from, in the guide's order.
var policyReasons = []policyReason{
	{"disposable", "throw-away mailbox"},
	{"no_mail", "no mail arrives: neither MX nor address record"},
	{"no_mx", "no MX record"},
	{"typo", "misspelled domain of a large provider"},
	{"gibberish", "looks random"},
	{"role", "a role, such as info"},
	{"public", "public mailbox provider"},
	{"relay", "forwarding service that hides the mailbox"},
	{"alias", "plus tag"},
	{"unknown_tld", "ending that does not exist"},
	{"special_use", "reserved domain, such as example.com"},
	{"generated", "form that a throw-away service generates"},
	{"looks_disposable", "domain that resembles throw-away ones"},
	{"mailbox_form", "local part that the provider's mailboxes cannot have"},
	{"odd_character", "replacement character, leading apostrophe or full-width letter"},
}

// Sections are the ticks of the page.
func (p *PolicyPage) Sections() []policySection {
	return []policySection{
		{"allow", "Allow", "Your own domains win over every list below.", nil},
		{"block", "Block", "An address that is not valid is always blocked.", policyReasons},
		{"review", "Review", "What review means is yours to define: ask again, or have a person look.", policyReasons},
	}
}

func policyGet(v *page.Visit) (any, error) { return policyPage(v) }

func policyPage(v *page.Visit) (*PolicyPage, error) {
	name := v.Request.PathValue("name")
	if book.CheckPolicyName(name) != nil {
		return nil, page.ErrNotFound
	}
	stored, err := v.Ledger.Policy(v.Context(), v.User.Account, name)
	if err != nil {
		return nil, err
	}
	keys, err := keysByPolicy(v)
	found := &PolicyPage{Policy: viewOfPolicy(stored, keys), Document: stored.Document}
	found.Tried = v.Request.URL.Path == PoliciesPath+"/"+name+"/test"
	found.TooLong = len(found.Document) > MaxDocument/3 && len(url.QueryEscape(found.Document)) > MaxDocument-page.MaxForm
	return found, err
}

// changePolicy replaces the document of a policy. Somebody who has begun with another
// version than the stored one, as in a second tab, gets the page again, with what was
// entered, and decides. A program may leave the version out, to replace any.
func changePolicy(v *page.Visit) (*page.Outcome, error) {
	found, err := policyPage(v)
	if err != nil {
		return nil, err
	}
	if !v.Form.Has("document") {
		return nil, page.InputProblem("document", "Give the document of the policy.")
	}
	version, given := found.Policy.Version, v.Form.Get("version")
	if v.Form.Has("version") {
		version, err = strconv.ParseInt(given, 10, 64)
		if err != nil || version < 0 {
			return nil, page.InputProblem("version", "The version must be the number that the page has.")
		}
	}
	document := lines(v.Form.Get("document"))
	err = storePolicy(v, found.Policy.Name, document, version)
	switch {
	case errors.Is(err, book.ErrPolicyChanged):
		v.Form.Set("version", strconv.FormatInt(found.Policy.Version, 10)) // so that a second try replaces it
		p := &page.Problem{Status: http.StatusConflict, Code: "POLICY_CHANGED", Field: "version"}
		p.Sentence = fmt.Sprintf("The policy was changed since this page was opened: you began with version %s, "+
			"and now it has version %d. Nothing was saved. What you entered is below; save it again to replace the "+
			"other change, or load the page to see that.", page.Visible(given), found.Policy.Version)
		return &page.Outcome{Data: found, Refused: p}, nil
	case err != nil:
		return found.refused(document, err)
	}
	return page.Redirect(v.Request.URL.Path, "policy-changed"), nil
}

// refused shows the page again with what is wrong and where, if err is why a document is no
// policy.
func (p *PolicyPage) refused(document string, err error) (*page.Outcome, error) {
	refused, ok := errors.AsType[*host.PolicyError](err)
	if !ok {
		return nil, policyProblem(err)
	}
	p.Flaw = flawOf(document, refused)
	return &page.Outcome{Data: p, Refused: page.ProblemOf(policyProblem(err))}, nil
}

func deletePolicy(v *page.Visit) (*page.Outcome, error) {
	found, err := policyPage(v)
	if err != nil {
		return nil, err
	}
	err = v.Ledger.DeletePolicy(v.Context(), v.User.Account, found.Policy.Name)
	if errors.Is(err, book.ErrPolicyInUse) {
		names := "a key"
		if n := len(found.Policy.Keys); n > 0 { // else one became so just now
			names = "the key “" + found.Policy.Keys[0].Name + "”"
			if n > 1 {
				names += " and " + words.Count(int64(n-1), "more key")
			}
		}
		return nil, &page.Problem{Status: http.StatusConflict, Code: "POLICY_IN_USE", Input: true,
			Sentence: "The policy is the default of " + names + ". Give the key another default first, or none."}
	}
	return page.Redirect(PoliciesPath, "policy-deleted"), err
}

// A flaw is what is wrong in a document, and where.
type flaw struct {
	Sentence string
	Line     int // 0 for the whole document
	Lines    []flawLine
}

// Heading names the line, unless the sentence does.
func (f *flaw) Heading() string {
	if f.Line == 0 || strings.HasPrefix(f.Sentence, "line ") {
		return ""
	}
	return "Line " + strconv.Itoa(f.Line)
}

type flawLine struct {
	Number int
	Text   string
	Here   bool
}

// flawOf returns why a document is no policy, with the lines around the place.
func flawOf(document string, refused *host.PolicyError) *flaw {
	f := &flaw{Sentence: policySentence(refused)}
	if strings.HasPrefix(refused.Sentence, "the document: it has ") { // too much of something
		return f
	}
	line, column := refused.Position(document)
	f.Line = line
	all := strings.Split(document, "\n")
	for n := max(0, line-3); n <= line+1 && n < len(all); n++ {
		from := 0 // where the part of the line begins that is shown
		if n == line-1 {
			from = max(0, column-1-flawWidth/2)
		}
		text := strings.ToValidUTF8(all[n][from:min(len(all[n]), from+flawWidth)], "")
		if from > 0 {
			text = "…" + text
		}
		if from+flawWidth < len(all[n]) {
			text += "…"
		}
		f.Lines = append(f.Lines, flawLine{n + 1, page.Visible(text), n == line-1})
	}
	return f
}

// flawWidth is how many bytes of a line are shown around a flaw.
const flawWidth = 120

// tested is what a policy decides about an address.
type tested struct {
	Email  string `json:"email"`
	Lookup string `json:"lookup,omitempty"` // what was supposed of DNS
	// Exchanges are the names of those that were supposed, separated by spaces.
	Exchanges string `json:"exchanges,omitempty"`
	Verdict   struct {
		Action string  `json:"action"`
		Reason *string `json:"reason"`
		Rule   *string `json:"rule"`
	} `json:"verdict"`
	Entry   string `json:"entry,omitempty"` // of the document, to which rule leads
	Refusal string `json:"refusal,omitempty"`
}

// Tone returns the tone of the verdict.
func (t *tested) Tone() string {
	tones := map[string]string{"allow": result.ToneGood, "review": result.ToneWarn, "block": result.ToneBad}
	return tones[t.Verdict.Action]
}
