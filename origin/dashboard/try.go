package dashboard

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/wasm/result"
)

// tryView is the page Try it.
type tryView struct {
	Points  pointsView    `json:"points"`
	Checked []checkedView `json:"checked,omitempty"`
	Charged string        `json:"charged,omitempty"` // what the check cost
	Partial string        `json:"partial,omitempty"` // why addresses are missing
	JSON    string        `json:"-"`                 // the API's response, indented
	Curl    string        `json:"curl,omitempty"`    // the request that gives it
	Max     int           `json:"max"`
}

// One reports whether a single address was checked.
func (t *tryView) One() bool { return len(t.Checked) == 1 }

// Emails returns the addresses of the form's field, one a line.
func (t *tryView) Emails(f *frame) string { return strings.Join(f.Form["emails"], "\n") }

func (d *Dashboard) tryPage(v *visit) (any, error) {
	points, err := v.points()
	return &tryView{Points: points, Max: maxPasted}, err
}

// try checks the addresses of the form. They are in the body of the request and
// of the response only, not in an address of a page, a log or the history.
func (d *Dashboard) try(v *visit) (*outcome, error) {
	list, err := pastedAddresses(v.form["emails"])
	if err != nil {
		return nil, err
	}
	if from, to, ok := strings.Cut(v.form.Get("use"), " "); ok {
		v.form["emails"] = replaceDomain(list, from, to)
		data, err := d.tryPage(v)
		return show(data), err
	}
	before, err := v.points()
	if err != nil {
		return nil, err
	}
	view, p := v.checkList(list, before)
	if p != nil {
		return nil, p
	}
	view.Points = before
	if after, err := v.points(); err == nil { // else the response, which was paid for, is shown all the same
		view.Points = after
	}
	return show(view), nil
}

// checkList checks one address as GET /v1/email/{email} does, which gives the
// reason of an address that is not valid and charges nothing for it, and several
// as POST /v1/emails does.
func (v *visit) checkList(list []string, before pointsView) (*tryView, *problem) {
	q, curl := singleRequest(list[0])
	if len(list) > 1 {
		q, curl = batchRequest(list)
	}
	resp := v.call(q)
	view := &tryView{Max: maxPasted, Curl: curl(v.link("")), JSON: indent(resp.body)}
	switch {
	case len(list) == 1 && view.readInvalid(resp, list[0]):
		return view, nil
	case resp.status != http.StatusOK:
		return nil, problemOfResponse(resp, before.Refill)
	}
	if err := view.read(resp.body, len(list)); err != nil {
		v.Log.Error("a response of the API cannot be read") // without the error, which may have an address
		return nil, errResponse
	}
	v.addReasons(view.Checked)
	return view, nil
}

// addReasons says why addresses are not valid, which the response to a batch has only
// with its details. The module knows, at no cost.
func (v *visit) addReasons(list []checkedView) {
	for i := range list {
		if list[i].Facts != nil {
			continue
		}
		facts, err := v.Engine.Check(v.r.Context(), nil, list[i].Email, 0)
		if err == nil && !facts.Valid {
			list[i].Reason = asSentence(facts.Refusal.Sentence)
		}
	}
}

var errResponse = &problem{status: http.StatusInternalServerError, code: "INTERNAL_ERROR",
	sentence: "The response of the API cannot be read, because of a fault in the service."}

// readInvalid reads the refusal of a single address that is not valid.
func (t *tryView) readInvalid(a *apiResponse, email string) bool {
	var refused struct{ Error, Code string }
	if a.status != http.StatusBadRequest || json.Unmarshal(a.body, &refused) != nil || refused.Code != "INVALID_EMAIL_FORMAT" {
		return false
	}
	t.Checked = []checkedView{{Email: email, Tone: toneBad, Verdict: "Not a valid address", Reason: refused.Error, Problem: refused.Code}}
	t.Charged = "This cost nothing: an address that is not valid is free when it is checked alone."
	return true
}

// read reads the response to a request with sent addresses.
func (t *tryView) read(body []byte, sent int) error {
	if sent > 1 {
		return t.readBatch(body, sent)
	}
	checked, err := viewOfResult(body)
	t.Checked, t.Charged = []checkedView{checked}, "This cost 1 point."
	return err
}

// apiBatch is the API's response to a batch.
type apiBatch struct {
	Points  int64     `json:"usage_points"`
	Results []apiItem `json:"results"`
}

type apiItem struct {
	Email  string          `json:"email"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (i *apiItem) view() (checkedView, error) {
	if i.Error != nil {
		return checkedView{Email: i.Email, Tone: toneWarn, Verdict: result.Unchecked,
			Reason: i.Error.Message + ". Check it again later; it may be fine.", Problem: i.Error.Code}, nil
	}
	return viewOfResult(i.Result)
}

func (t *tryView) readBatch(body []byte, sent int) error {
	var batch apiBatch
	if err := json.Unmarshal(body, &batch); err != nil {
		return err
	}
	for _, item := range batch.Results {
		checked, err := item.view()
		if err != nil {
			return err
		}
		t.Checked = append(t.Checked, checked)
	}
	t.Charged = "This cost " + count(batch.Points, "point") + "."
	if missing := sent - len(t.Checked); missing > 0 {
		t.Partial = "Time ran out with " + count(int64(missing), "address") + " left to check. What was not checked was not charged; check it again."
	}
	return nil
}

// singleRequest returns the request for one address with its details, and the
// curl line for it.
func singleRequest(email string) (apiRequest, func(base string) string) {
	path := "/v1/email/" + url.PathEscape(email) + "?details=true"
	return apiRequest{method: http.MethodGet, path: path}, func(base string) string {
		return `curl -H "X-API-Key: $KEY" '` + base + path + `'`
	}
}

// batchRequest returns the same for several addresses. Its JSON has no single
// quote, so a shell takes it as it is.
func batchRequest(list []string) (apiRequest, func(base string) string) {
	body, _ := json.Marshal(map[string][]string{"emails": list}) // strings: cannot fail
	quoted := strings.ReplaceAll(string(body), "'", `\u0027`)
	q := apiRequest{method: http.MethodPost, path: "/v1/emails", body: bytes.NewReader(body), length: int64(len(body)),
		header: http.Header{"Content-Type": {"application/json"}}}
	return q, func(base string) string {
		return `curl -H "X-API-Key: $KEY" -H 'Content-Type: application/json' -d '` + quoted + `' ` + base + `/v1/emails`
	}
}

func indent(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// checkPath passes batches from the page Lists to POST /v1/emails, and its responses
// back, byte for byte.
const checkPath = "/dashboard/lists/check"

// check is the handler of checkPath. The token is in a header, so that the body
// goes to the API unread, which has its own bounds.
func (d *Dashboard) check(w http.ResponseWriter, r *http.Request) {
	v, err := d.visit(w, r, route{access: signedIn})
	v.json = true
	if err == nil {
		err = d.guardHeader(v)
	}
	if err != nil {
		d.refuse(v, err)
		return
	}
	v.passOn(v.call(apiRequest{method: http.MethodPost, path: "/v1/emails", body: r.Body, length: r.ContentLength, header: r.Header}))
}

// call sends a request to the API, in a slot for checks.
func (v *visit) call(q apiRequest) *apiResponse {
	ctx, p := v.move(v.checks, v.account(), q.responseMemory())
	if p != nil {
		return busyResponse(p)
	}
	placeOf(v.r.Context()).stay()
	return v.api.call(ctx, v.user.Account, q)
}

// responseMemory estimates the size of the response, which is in memory until it is
// sent: it repeats each address up to three times. The API refuses more than its
// bound of a body.
func (q *apiRequest) responseMemory() int64 {
	const maxBody, facts = 1 << 20, 128 << 10 // with details, for which the page Lists asks
	if q.length < 0 || q.length > maxBody {
		return 3*maxBody + facts
	}
	return 3*q.length + facts
}

// busyResponse returns the problem of a request without a slot as the API would: it
// is temporary, and clients retry it as they do there.
func busyResponse(p *problem) *apiResponse {
	resp := flatResponse(p.status, "REQUEST_CANCELLED", p.sentence)
	if p.status == http.StatusTooManyRequests {
		resp = rateResponse("Rate limit exceeded: " + strconv.Itoa(maxChecksEach) + " requests of this account are in progress in the dashboard. Try again in 1 seconds.")
	}
	resp.header.Set("Retry-After", "1")
	return resp
}

// passOn responds with the API's response.
func (v *visit) passOn(resp *apiResponse) {
	copyHeaders(v.w.Header(), resp.header, passedOut)
	v.w.Header().Set("Cache-Control", "no-store")
	v.send(resp.status, "application/json", resp.body)
}

// maxBatch is how many addresses POST /v1/emails takes.
const maxBatch = 64

// listsView is the page Lists. Its JSON says what a list may cost before it is
// checked.
type listsView struct {
	Points pointsView `json:"points"`
	Batch  int        `json:"-"`
	Origin string     `json:"-"`
	URL    string     `json:"-"`
	Names  string     `json:"-"` // of columns of addresses
}

func (d *Dashboard) lists(v *visit) (any, error) {
	points, err := v.points()
	return listsView{points, maxBatch, d.PublicURL.String(), d.link("/v1/emails"), input.AddressNames}, err
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
			f.Sentence += roleSentence(d.Role)
		case d.Provider != nil && f.Field == d.Provider.Class:
			f.Sentence += providerSentence(d.Provider)
		case f.Field == "disposable" && r.Disposable && d.Provider == nil:
			f.Sentence = r.Domain + " is in no list, but each of its mail servers belongs to a service of throw-away mailboxes."
		}
	}
	if d.Exchange != nil { // after mx
		at := 1 + slices.IndexFunc(facts, func(f factView) bool { return f.Field == "mx" })
		facts = slices.Insert(facts, at, factView{Field: "exchange", Tone: exchangeTone(d.Exchange), Sentence: exchangeSentence(d.Exchange)})
	}
	if sentence := d.FormSentence(); sentence != "" { // after valid
		facts = slices.Insert(facts, 1, factView{Field: "form", Tone: toneWarn, Sentence: sentence})
	}
	if d.CanonicalRule == "" {
		return facts
	}
	return append(facts, factView{Field: "canonical", Tone: tonePlain,
		Sentence: fmt.Sprintf("The mailbox is %s: other spellings reach it too, by the rule %q of its provider.", d.Canonical, d.CanonicalRule)})
}

// exchangeTone returns the tone of where the domain's mail goes.
func exchangeTone(e *result.Exchange) string {
	switch {
	case e.Class == "temporary":
		return toneBad
	case e.Class == "parked" || e.AddressRecord != nil && !*e.AddressRecord:
		return toneWarn
	}
	return tonePlain
}

// exchangeSentence says where the domain's mail goes and which entry says so.
func exchangeSentence(e *result.Exchange) string {
	if e.Entry == "" || e.Entry == e.Host {
		return e.Sentence()
	}
	return e.Sentence() + " The entry is " + e.Entry + "."
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

// Tones of verdicts and facts. They are class names of the style sheet; each has
// a word beside its colour.
const (
	toneGood  = result.ToneGood
	toneWarn  = result.ToneWarn
	toneBad   = result.ToneBad
	tonePlain = "plain"
)

// apiResult is the result of an address in the API's JSON.
type apiResult struct{ result.Result }

// A checkedView is one address with what was found.
type checkedView struct {
	Email   string     `json:"email"`
	Tone    string     `json:"tone"`
	Verdict string     `json:"verdict"`
	Reason  string     `json:"reason,omitempty"`
	Facts   []factView `json:"facts,omitempty"`
	Fix     string     `json:"suggestion,omitempty"` // the address with the suggested domain
	Domains string     `json:"-"`                    // the misspelled domain and the suggested one
	Result  any        `json:"result,omitempty"`     // as the API gave it
	Problem string     `json:"error_code,omitempty"` // of an address that could not be checked
}

// A factView is one field of the result in words.
type factView struct {
	Field    string `json:"field"`
	Tone     string `json:"tone"`
	Sentence string `json:"sentence"`
	Notable  bool   `json:"notable"` // shown in a list of many addresses
}

// viewOfResult puts a result into words.
func viewOfResult(raw json.RawMessage) (checkedView, error) {
	parsed, err := result.Parse(raw)
	r := apiResult{parsed}
	if err != nil {
		return checkedView{}, err
	}
	view := checkedView{Email: r.Email, Result: raw}
	view.Tone, view.Verdict = r.Opinion(true)
	if !r.Valid {
		return view, nil
	}
	view.Facts = r.addEvidence(r.facts())
	if r.Typo {
		suggested := domainOf(r.TypoSuggestion)
		view.Fix = replaceDomain([]string{r.Email}, r.Domain, suggested)[0]
		view.Domains = r.Domain + " " + suggested
	}
	return view, nil
}

// noMX says where mail goes without MX.
func (r *apiResult) noMX() string {
	if result.IsLiteral(r.Domain) {
		return r.Domain + " is an IP address, to which mail goes without MX records (RFC 5321 section 5.1)."
	}
	return r.Domain + " has no MX record that names a mail server. Without MX records, mail goes to the domain's address record, if it has one (RFC 5321 section 5.1)."
}

// facts returns each field of a valid address in words.
func (r *apiResult) facts() []factView {
	return []factView{
		{"valid", toneGood, "It follows the standards of addresses (RFC 5321, 5322, 6531).", false},
		pick("mx", r.MX, !r.MX, factView{Tone: toneGood, Sentence: r.Domain + " has an MX record: a mail server is named for it."},
			factView{Tone: toneWarn, Sentence: r.noMX()}),
		pick("typo", r.Typo, r.Typo, factView{Tone: toneWarn, Sentence: r.Domain + " looks like a misspelling of " + domainOf(r.TypoSuggestion) + "."},
			factView{Tone: toneGood, Sentence: r.Domain + " does not look like a misspelling of a common provider."}),
		pick("disposable", r.Disposable, r.Disposable, factView{Tone: toneBad, Sentence: r.Domain + " belongs to a provider of throw-away mailboxes."},
			factView{Tone: toneGood, Sentence: r.Domain + " is not known for throw-away mailboxes."}),
		pick("gibberish", r.Gibberish, r.Gibberish, factView{Tone: toneWarn, Sentence: fmt.Sprintf("The part before the @ looks random: score %.2f, where 0.50 and more count as random.", r.GibberishScore)},
			factView{Tone: toneGood, Sentence: fmt.Sprintf("The part before the @ does not look random: score %.2f, below 0.50.", r.GibberishScore)}),
		pick("role", r.Role != "", r.Role != "", factView{Tone: toneWarn, Sentence: "The part before the @ names a role (" + r.Role + "), so several people may read the mail, or nobody."},
			factView{Tone: toneGood, Sentence: "The part before the @ names no role such as support or sales."}),
		pick("public", r.Public, false, factView{Tone: tonePlain, Sentence: "Anybody can open a mailbox at " + r.Domain + "."},
			factView{Tone: tonePlain, Sentence: r.Domain + " is not known as a public mailbox provider."}),
		pick("relay", r.Relay, r.Relay, factView{Tone: tonePlain, Sentence: r.Domain + " forwards mail and hides the address of the person behind it."},
			factView{Tone: tonePlain, Sentence: r.Domain + " is not known as a forwarding service."}),
		pick("alias", r.Alias, false, factView{Tone: tonePlain, Sentence: "It has a plus tag; most providers deliver to the address without it."},
			factView{Tone: tonePlain, Sentence: "It has no plus tag."}),
		pick("ascii", r.ASCII, !r.ASCII, factView{Tone: tonePlain, Sentence: "All characters are ASCII."},
			factView{Tone: tonePlain, Sentence: "It has characters beyond ASCII (RFC 6531), which some mail servers refuse."}),
		pick("normalized", r.Normalized != r.Email, false, factView{Tone: tonePlain, Sentence: "Its normal form is " + r.Normalized + "."},
			factView{Tone: tonePlain, Sentence: "It is in normal form already."}),
	}
}

// pick returns the fact for a field that is set, or for one that is not.
func pick(field string, set, notable bool, yes, no factView) factView {
	fact := no
	if set {
		fact = yes
	}
	fact.Field, fact.Notable = field, notable
	return fact
}

// domainOf returns the domain of a suggestion, which --typo-suggestion may make a
// full address.
func domainOf(suggestion string) string {
	return suggestion[strings.LastIndexByte(suggestion, '@')+1:]
}

// maxPasted is how many addresses Try it checks at a time: as many as a batch has.
const maxPasted = 64

// pastedAddresses returns the distinct addresses of a text, in its order: one a
// line, or several with commas or semicolons between them.
func pastedAddresses(lines []string) ([]string, error) {
	var list []string
	seen := map[string]bool{}
	for _, line := range strings.FieldsFunc(strings.Join(lines, "\n"), isLineBreak) {
		for _, email := range splitLine(line) {
			email = strings.TrimSpace(email)
			if email != "" && !seen[email] {
				seen[email] = true
				list = append(list, email)
			}
		}
	}
	switch {
	case len(list) == 0:
		return nil, inputProblem("emails", "Give at least one address.")
	case len(list) > maxPasted:
		return nil, inputProblem("emails", fmt.Sprintf("These are %d different addresses; at most %d fit here. For more, use Lists.", len(list), maxPasted))
	}
	return list, nil
}

func isLineBreak(r rune) bool { return r == '\n' || r == '\r' }

// splitLine splits a line at commas and semicolons if each part has an @. Otherwise
// they belong to the address, such as in a quoted string (RFC 5321 section 4.1.2).
func splitLine(line string) []string {
	parts := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' })
	for _, part := range parts {
		if strings.TrimSpace(part) != "" && !strings.Contains(part, "@") {
			return []string{line}
		}
	}
	return parts
}

// replaceDomain returns the addresses with one domain in place of another.
func replaceDomain(list []string, from, to string) []string {
	replaced := make([]string, len(list))
	for i, email := range list {
		at := strings.LastIndexByte(email, '@')
		replaced[i] = email
		if at >= 0 && strings.EqualFold(email[at+1:], from) {
			replaced[i] = email[:at+1] + to
		}
	}
	return replaced
}

// frontExample is a result that the front door shows, as the API gives it: it always looks
// MX up, and the domain has an exchange.
//
//go:embed example.json
var frontExample string

// exampleAddress is the address of frontExample.
const exampleAddress = "jane.doe+news@hotmial.com"

// A frontView is the front door.
type frontView struct {
	Address    string          `json:"address"`
	Result     json.RawMessage `json:"result"` // of Address
	URL        string          `json:"url"`
	Repository string          `json:"repository"`
}

const repository = "https://github.com/addrspec/addrspec"

// frontDoor shows what addrspec is. The check that it offers runs in the browser.
func (d *Dashboard) frontDoor(*visit) (any, error) {
	return frontView{exampleAddress, json.RawMessage(frontExample), d.link("/v1/email/" + exampleAddress), repository}, nil
}
