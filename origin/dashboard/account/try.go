package account

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/outgoing"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// TryView is the page Try it.
type TryView struct {
	Points  pointsView    `json:"points"`
	Checked []checkedView `json:"checked,omitempty"`
	Charged string        `json:"charged,omitempty"` // what the check cost
	Partial string        `json:"partial,omitempty"` // why addresses are missing
	JSON    string        `json:"-"`                 // the API's response, indented
	Curl    string        `json:"curl,omitempty"`    // the request that gives it
	Max     int           `json:"max"`
}

// Emails returns the addresses of the form's field, one a line.
func (t *TryView) Emails(f *page.Frame) string { return strings.Join(f.Form["emails"], "\n") }

func tryPage(v *page.Visit) (any, error) {
	points, err := points(v)
	return &TryView{Points: points, Max: maxBatch}, err
}

// try checks the addresses of the form. They are in the body of the request and
// of the response only, not in an address of a page, a log or the history.
func try(v *page.Visit) (*page.Outcome, error) {
	list, err := pastedAddresses(v.Form["emails"])
	if err != nil {
		return nil, err
	}
	if from, to, ok := strings.Cut(v.Form.Get("use"), " "); ok {
		v.Form["emails"] = replaceDomain(list, from, to)
		data, err := tryPage(v)
		return page.Show(data), err
	}
	before, err := points(v)
	if err != nil {
		return nil, err
	}
	view, err := checkList(v, list, before)
	if err != nil {
		return nil, err
	}
	view.Points = before
	if after, err := points(v); err == nil { // else the response, which was paid for, is shown all the same
		view.Points = after
	}
	return page.Show(view), nil
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
func checkList(v *page.Visit, list []string, before pointsView) (*TryView, error) {
	if err := holdCheck(v); err != nil {
		return nil, err
	}
	path, method, body, curl := "/v1/emails", http.MethodPost, []byte(nil), ""
	if len(list) == 1 {
		path, method = "/v1/email/"+url.PathEscape(list[0])+"?details=true", http.MethodGet
		curl = `'` + v.Link("") + path + `'`
	} else {
		body, _ = json.Marshal(map[string][]string{"emails": list}) // strings: cannot fail
		quoted := strings.ReplaceAll(string(body), "'", `\u0027`)   // for the shell
		curl = `-H 'Content-Type: application/json' -d '` + quoted + `' ` + v.Link("") + path
	}
	q, err := http.NewRequestWithContext(api.As(v.Whole, v.User.Account), method, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	resp, body := outgoing.Record(v.API, q)
	var indented bytes.Buffer
	_ = json.Indent(&indented, body, "", "  ") // fails if the body is no JSON, which is an error below
	view := &TryView{Max: maxBatch, Curl: `curl -H "X-API-Key: $KEY" ` + curl, JSON: indented.String()}

	var refused struct{ Error, Code string }
	var batch struct {
		Points  int64     `json:"usage_points"`
		Results []apiItem `json:"results"`
	}
	switch one := len(list) == 1; {
	case one && json.Unmarshal(body, &refused) == nil && refused.Code == "INVALID_EMAIL_FORMAT":
		tone, verdict := new(result.Result).Opinion()
		view.Checked = []checkedView{{Email: list[0], Tone: tone, Verdict: verdict, Reason: refused.Error,
			Problem: refused.Code}}
		view.Charged = "This cost nothing: an address that is not valid is free when it is checked alone."
		return view, nil
	case resp.StatusCode != http.StatusOK:
		return nil, problemOfResponse(resp, body, before.Refill)
	case one:
		batch.Points, batch.Results = 1, []apiItem{{Result: body}}
	default:
		err = json.Unmarshal(body, &batch)
	}
	for _, item := range batch.Results {
		checked, wrong := viewOf(v, item)
		view.Checked, err = append(view.Checked, checked), cmp.Or(err, wrong)
	}
	if err != nil {
		v.Log.Error("a response of the API cannot be read") // without the error, which may have an address
		return nil, &page.Problem{Status: http.StatusInternalServerError, Code: "INTERNAL_ERROR",
			Sentence: "The response of the API cannot be read, because of a fault in the service."}
	}
	view.Charged = "This cost " + words.Count(batch.Points, "point") + "."
	if missing := len(list) - len(view.Checked); missing > 0 {
		view.Partial = "Time ran out with " + words.Count(int64(missing), "address") + " left to check. " +
			"What was not checked was not charged; check it again."
	}
	return view, nil
}

// problemOfResponse returns why the API refused a request, in a sentence for people. Of the API's three
// shapes of errors, A has a sentence in "error", B an object, and C (429) neither.
func problemOfResponse(w *http.Response, body []byte, refill time.Time) *page.Problem {
	var given struct {
		Error json.RawMessage
		Code  string
	}
	var detail struct {
		Code, Message       string
		Required, Remaining int64
	}
	if err := json.Unmarshal(body, &given); err == nil && json.Unmarshal(given.Error, &detail) != nil {
		detail.Code = given.Code
		_ = json.Unmarshal(given.Error, &detail.Message)
	}
	seconds, _ := strconv.Atoi(w.Header.Get("Retry-After"))
	p := &page.Problem{Status: w.StatusCode, Code: detail.Code, Sentence: detail.Message, Input: true,
		Wait: time.Duration(seconds) * time.Second}
	switch {
	case w.StatusCode == http.StatusPaymentRequired:
		p.Sentence = fmt.Sprintf("This costs %s, and you have %s left this month. The points refill on %s. "+
			"Check fewer addresses, or wait.",
			words.Count(detail.Required, "point"), humanize.Comma(detail.Remaining), words.Date(refill))
	case w.StatusCode == http.StatusTooManyRequests && p.Wait == 0:
		p.Code = "INSUFFICIENT_USAGE"
		p.Sentence = "The points of this month are used up. They refill on " + words.Date(refill) + "."
	case w.StatusCode == http.StatusTooManyRequests:
		p.Code = "RATE_LIMITED"
		p.Sentence = "The account sends as many requests as it may at the moment. Try again in " +
			words.Wait(p.Wait) + ". Nothing was charged."
	case w.StatusCode == http.StatusServiceUnavailable:
		p.Sentence += " Try again in " + words.Wait(p.Wait) + "."
	case p.Sentence == "":
		p.Sentence = fmt.Sprintf("The API responded with status %d. Nothing was charged.", w.StatusCode)
	}
	return p
}

type checkedView struct {
	Email   string        `json:"email"`
	Tone    string        `json:"tone"` // a class name of the style sheet
	Verdict string        `json:"verdict"`
	Reason  string        `json:"reason,omitempty"`
	Facts   []result.Fact `json:"facts,omitempty"`
	Fix     string        `json:"suggestion,omitempty"` // the address with the suggested domain, or the one that a refused one is meant to be
	Domains string        `json:"-"`                    // the misspelled domain and the suggested one; "" if none is
	Result  any           `json:"result,omitempty"`     // as the API gave it
	Problem string        `json:"error_code,omitempty"` // of an address that could not be checked
}

// viewOf puts what was found into words. The response to a batch does not say why an address is
// not valid, which the module knows at no cost.
func viewOf(v *page.Visit, i apiItem) (checkedView, error) {
	if i.Error != nil {
		return checkedView{Email: i.Email, Tone: result.ToneWarn, Verdict: result.Unchecked,
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
		facts, err := v.Engine.Check(v.Context(), nil, r.Email, host.Details)
		if err != nil {
			return view, nil
		}
		known, err := result.Parse(facts.JSON)
		if err != nil {
			return checkedView{}, err
		}
		view.Reason, view.Fix = result.Sentence(facts.Refusal.Sentence), known.Details.Refusal.Suggestion
	}
	return view, nil
}

// CheckPath passes batches from the page Lists to POST /v1/emails, which responds.
const CheckPath = "/dashboard/lists/check"

// Check serves CheckPath. The token is in a header, and the body goes to the API unread, which has its own
// bounds.
func Check(v *page.Visit) error {
	if err := v.Guard(); err != nil {
		return err
	}
	if err := holdCheck(v); err != nil {
		return err
	}
	r := v.Request.WithContext(api.As(v.Whole, v.User.Account))
	r.URL = &url.URL{Path: "/v1/emails"}
	v.API.ServeHTTP(v.Writer, r)
	return nil
}

// holdCheck holds what a check of the account takes until its response is sent.
func holdCheck(v *page.Visit) error {
	if v.User.Suspended {
		return page.ErrSuspended
	}
	err := v.Hold(v.Limits.Long, "checks of "+v.Account(), 1, page.ErrBusyAccount)
	if err == nil {
		v.Keep()
	}
	return err
}

// maxBatch is how many addresses POST /v1/emails takes, and Try it at a time.
const maxBatch = 64

// ListsView is the page Lists. Its JSON says what a list may cost before it is
// checked.
type ListsView struct {
	Points pointsView `json:"points"`
	Batch  int        `json:"-"`
	Origin string     `json:"-"`
	URL    string     `json:"-"`
	Names  string     `json:"-"` // of columns of addresses
}

// pastedAddresses returns the distinct addresses of a text, in its order: one a
// line, or several with commas or semicolons between them.
func pastedAddresses(lines []string) ([]string, error) {
	var list []string
	seen := map[string]bool{"": true}
	noAddress := func(part string) bool { return strings.TrimSpace(part) != "" && !strings.Contains(part, "@") }
	for line := range strings.Lines(strings.ReplaceAll(strings.Join(lines, "\n"), "\r", "\n")) {
		parts := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' })
		if slices.ContainsFunc(parts, noAddress) {
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
		return nil, page.InputProblem("emails", "Give at least one address.")
	case len(list) > maxBatch:
		return nil, page.InputProblem("emails", fmt.Sprintf("These are %d different addresses; at most %d fit here. "+
			"For more, use Lists.", len(list), maxBatch))
	}
	return list, nil
}

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
