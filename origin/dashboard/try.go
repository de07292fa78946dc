package dashboard

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/addrspec/addrspec/origin/result"
)

// tryView is the page Try it.
type tryView struct {
	Points  pointsView    `json:"points"`
	Checked []checkedView `json:"checked,omitempty"`
	Charged string        `json:"charged,omitempty"` // what the check cost
	Partial string        `json:"partial,omitempty"` // why addresses are missing
	JSON    string        `json:"-"`                 // the API's answer, indented
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
// of the answer only, not in an address of a page, a log or the history.
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
	if after, err := v.points(); err == nil { // else the answer, which was paid for, is shown all the same
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
	answer := v.call(q)
	view := &tryView{Max: maxPasted, Curl: curl(v.link("")), JSON: indent(answer.body)}
	switch {
	case len(list) == 1 && view.readInvalid(answer, list[0]):
		return view, nil
	case answer.status != http.StatusOK:
		return nil, problemOfAnswer(answer, before.Refill)
	}
	if err := view.read(answer.body, len(list)); err != nil {
		v.Log.Error("an answer of the API cannot be read") // without the error, which may have an address
		return nil, errAnswer
	}
	return view, nil
}

var errAnswer = &problem{status: http.StatusInternalServerError, code: "INTERNAL_ERROR",
	sentence: "The answer of the API cannot be read, because of a fault in the service."}

// readInvalid reads the refusal of a single address that is not valid.
func (t *tryView) readInvalid(a *apiAnswer, email string) bool {
	var refused struct{ Error, Code string }
	if a.status != http.StatusBadRequest || json.Unmarshal(a.body, &refused) != nil || refused.Code != "INVALID_EMAIL_FORMAT" {
		return false
	}
	t.Checked = []checkedView{{Email: email, Tone: toneBad, Verdict: "Not a valid address", Reason: refused.Error, Problem: refused.Code}}
	t.Charged = "This cost nothing: an address that is not valid is free when it is checked alone."
	return true
}

// read reads the answer to a request with sent addresses.
func (t *tryView) read(body []byte, sent int) error {
	if sent > 1 {
		return t.readBatch(body, sent)
	}
	checked, err := viewOfResult(body)
	t.Checked, t.Charged = []checkedView{checked}, "This cost 1 point."
	return err
}

// apiBatch is the API's answer to a batch.
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
	view, err := viewOfResult(i.Result)
	view.ShowWhy = view.Facts == nil
	return view, err
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
	t.Charged = "This cost " + points(batch.Points) + "."
	if missing := sent - len(t.Checked); missing > 0 {
		t.Partial = "Time ran out before " + formatNumber(int64(missing)) + " of the addresses were checked. They were not charged; check them again."
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
