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
	view, err := v.checkList(list, before)
	if err != nil {
		return nil, err
	}
	view.Points = before
	if after, err := v.points(); err == nil { // else the response, which was paid for, is shown all the same
		view.Points = after
	}
	return show(view), nil
}

// An apiItem is an address in the API's response to a batch.
type apiItem struct {
	Email  string          `json:"email"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// checkList checks one address as GET /v1/email/{email} does, which gives the
// reason of an address that is not valid and charges nothing for it, and several
// as POST /v1/emails does.
func (v *visit) checkList(list []string, before pointsView) (*tryView, error) {
	path := "/v1/email/" + url.PathEscape(list[0]) + "?details=true"
	q, curl := apiRequest{method: http.MethodGet, path: path}, `'`+v.link("")+path+`'`
	if len(list) > 1 {
		body, _ := json.Marshal(map[string][]string{"emails": list}) // strings: cannot fail
		q = apiRequest{method: http.MethodPost, path: "/v1/emails", body: bytes.NewReader(body), length: int64(len(body)),
			header: http.Header{"Content-Type": {"application/json"}}}
		quoted := strings.ReplaceAll(string(body), "'", `\u0027`) // for the shell
		curl = `-H 'Content-Type: application/json' -d '` + quoted + `' ` + v.link("") + q.path
	}
	resp := v.call(q)
	var indented bytes.Buffer
	_ = json.Indent(&indented, resp.body, "", "  ") // fails if the body is no JSON, which is an error below
	view := &tryView{Max: maxPasted, Curl: `curl -H "X-API-Key: $KEY" ` + curl, JSON: indented.String()}

	var refused struct{ Error, Code string }
	batch := struct {
		Points  int64     `json:"usage_points"`
		Results []apiItem `json:"results"`
	}{1, []apiItem{{Result: resp.body}}}
	switch one := len(list) == 1; {
	case one && json.Unmarshal(resp.body, &refused) == nil && refused.Code == "INVALID_EMAIL_FORMAT":
		tone, verdict := new(result.Result).Opinion()
		view.Checked = []checkedView{{Email: list[0], Tone: tone, Verdict: verdict, Reason: refused.Error, Problem: refused.Code}}
		view.Charged = "This cost nothing: an address that is not valid is free when it is checked alone."
		return view, nil
	case resp.status != http.StatusOK:
		return nil, problemOfResponse(resp, before.Refill)
	case !one && json.Unmarshal(resp.body, &batch) != nil:
		return nil, v.unreadable()
	}
	for _, item := range batch.Results {
		checked, err := v.viewOf(item)
		if err != nil {
			return nil, v.unreadable()
		}
		view.Checked = append(view.Checked, checked)
	}
	view.Charged = "This cost " + count(batch.Points, "point") + "."
	if missing := len(list) - len(view.Checked); missing > 0 {
		view.Partial = "Time ran out with " + count(int64(missing), "address") + " left to check. " +
			"What was not checked was not charged; check it again."
	}
	return view, nil
}

// unreadable logs a response without the error, which may have an address.
func (v *visit) unreadable() error {
	v.Log.Error("a response of the API cannot be read")
	return &problem{status: http.StatusInternalServerError, code: "INTERNAL_ERROR",
		sentence: "The response of the API cannot be read, because of a fault in the service."}
}

// Tones are class names of the style sheet; each has words beside its colour.
const (
	toneGood = result.ToneGood
	toneWarn = result.ToneWarn
	toneBad  = result.ToneBad
)

// A checkedView is one address with what was found.
type checkedView struct {
	Email   string        `json:"email"`
	Tone    string        `json:"tone"`
	Verdict string        `json:"verdict"`
	Reason  string        `json:"reason,omitempty"`
	Facts   []result.Fact `json:"facts,omitempty"`
	Fix     string        `json:"suggestion,omitempty"` // the address with the suggested domain
	Domains string        `json:"-"`                    // the misspelled domain and the suggested one
	Result  any           `json:"result,omitempty"`     // as the API gave it
	Problem string        `json:"error_code,omitempty"` // of an address that could not be checked
}

// viewOf puts what was found into words. The response to a batch does not say why an address is
// not valid, which the module knows at no cost.
func (v *visit) viewOf(i apiItem) (checkedView, error) {
	if i.Error != nil {
		return checkedView{Email: i.Email, Tone: toneWarn, Verdict: result.Unchecked,
			Reason: i.Error.Message + ". Check it again later; it may be fine.", Problem: i.Error.Code}, nil
	}
	r, err := result.Parse(i.Result)
	if err != nil {
		return checkedView{}, err
	}
	view := checkedView{Email: r.Email, Result: i.Result, Facts: r.Facts()}
	view.Tone, view.Verdict = r.Opinion()
	if r.Typo {
		view.Fix = replaceDomain([]string{r.Email}, r.Domain, r.SuggestedDomain())[0]
		view.Domains = r.Domain + " " + r.SuggestedDomain()
	}
	if !r.Valid {
		if facts, err := v.Engine.Check(v.r.Context(), nil, r.Email, 0); err == nil {
			view.Reason = result.Sentence(facts.Refusal.Sentence)
		}
	}
	return view, nil
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
	resp := v.call(apiRequest{method: http.MethodPost, path: "/v1/emails", body: r.Body, length: r.ContentLength, header: r.Header})
	copyHeaders(w.Header(), resp.header, passedOut)
	w.Header().Set("Cache-Control", "no-store")
	v.send(resp.status, "application/json", resp.body)
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

// maxPasted is how many addresses Try it checks at a time: as many as a batch has.
const maxPasted = 64

// pastedAddresses returns the distinct addresses of a text, in its order: one a
// line, or several with commas or semicolons between them.
func pastedAddresses(lines []string) ([]string, error) {
	var list []string
	seen := map[string]bool{"": true}
	for _, line := range strings.FieldsFunc(strings.Join(lines, "\n"), func(r rune) bool { return r == '\n' || r == '\r' }) {
		parts := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' })
		if slices.ContainsFunc(parts, func(p string) bool { return strings.TrimSpace(p) != "" && !strings.Contains(p, "@") }) {
			parts = []string{line} // the comma is in the address, such as in a quoted string (RFC 5321 section 4.1.2)
		}
		for _, email := range parts {
			email = strings.TrimSpace(email)
			if !seen[email] {
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
