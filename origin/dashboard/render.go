package dashboard

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

//go:embed templates
var templateFiles embed.FS

// templates has a set for each page: the layout, the parts that pages share, and
// the page itself.
var templates = sync.OnceValue(func() map[string]*template.Template {
	shared := template.Must(template.New("layout").Funcs(functions).ParseFS(templateFiles, "templates/layout.html", "templates/parts/*.html"))
	pages, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err)
	}
	sets := map[string]*template.Template{}
	for _, file := range pages {
		if name := strings.TrimSuffix(path.Base(file), ".html"); name != "layout" {
			sets[name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, file))
		}
	}
	return sets
})

// A frame is what a template gets: the page's data and what is around it.
type frame struct {
	Title   string
	Path    string
	User    *identity.User // nil if nobody is signed in
	Token   string         // of forms
	Problem *problemView
	Done    string
	Form    map[string][]string // the values of a form that is shown again
	SignUp  bool
	Release string
	Data    any
}

// A problemView is a problem as pages and JSON show it. Its first members are the
// API's shape A.
type problemView struct {
	Status   int    `json:"status"`
	Sentence string `json:"error"`
	Code     string `json:"code"`
	Field    string `json:"field,omitempty"`
	Location string `json:"location,omitempty"`
}

// Value returns a field of the form that is shown again.
func (f *frame) Value(field string) string {
	if list := f.Form[field]; len(list) > 0 {
		return list[0]
	}
	return ""
}

// Kept returns what was given in a field of a form that is shown again, else what is
// stored.
func (f *frame) Kept(field, stored string) string {
	if _, given := f.Form[field]; given {
		return f.Value(field)
	}
	return stored
}

// Here reports whether the page is path or below it.
func (f *frame) Here(path string) bool {
	return f.Path == path || path != "/dashboard" && strings.HasPrefix(f.Path, path+"/")
}

// render responds with a page, or with its data as JSON.
func (v *visit) render(status int, route route, data any, p *problem) {
	v.w.Header().Set("Cache-Control", "no-store")
	v.w.Header().Add("Vary", "Accept, Cookie")
	if v.json {
		v.renderJSON(status, jsonBody(data, p))
		return
	}
	page, err := v.renderInTurn(route.file, v.frame(route, data, p))
	if err != nil {
		v.Log.Error("a page cannot be rendered", "page", route.file, "error", err.Error())
		http.Error(v.w, "The page cannot be shown because of a fault in the service.", http.StatusInternalServerError)
		return
	}
	v.send(status, "text/html; charset=utf-8", page)
}

// renderInTurn renders a page while few others are rendered, so that pages leave
// processors to the API.
func (v *visit) renderInTurn(file string, f *frame) ([]byte, error) {
	v.rendering <- struct{}{}
	defer func() { <-v.rendering }()
	return renderPage(file, f)
}

// renderPage returns a page as HTML.
func renderPage(file string, f *frame) ([]byte, error) {
	var page bytes.Buffer
	err := templates()[file].ExecuteTemplate(&page, "layout", f)
	return page.Bytes(), err
}

func (v *visit) frame(route route, data any, p *problem) *frame {
	f := &frame{Title: route.title, Path: v.r.URL.Path, Token: v.formToken(), SignUp: v.SignUp, Release: v.Release, Data: data, Form: v.form,
		Done: messages[v.r.URL.Query().Get("done")], Problem: viewOf(p)}
	if v.signedIn() {
		f.User = v.user
	}
	if named, ok := data.(interface{ PageTitle() string }); ok {
		f.Title = named.PageTitle()
	}
	return f
}

func viewOf(p *problem) *problemView {
	if p == nil {
		return nil
	}
	return &problemView{p.status, p.sentence, p.code, p.field, p.location}
}

// jsonBody returns the data of a page, or the problem in the shape of the API.
func jsonBody(data any, p *problem) any {
	if p != nil {
		return viewOf(p)
	}
	return data
}

// renderJSON responds with JSON. Its header has the token that a POST must bring
// back.
func (v *visit) renderJSON(status int, body any) {
	if v.token != "" {
		v.w.Header().Set(tokenHeader, v.formToken())
	}
	text, err := json.Marshal(body)
	if err != nil {
		v.Log.Error("a page cannot be rendered as JSON", "error", err.Error())
		status, text = http.StatusInternalServerError, []byte(`{"error":"The response cannot be written.","code":"INTERNAL_ERROR"}`)
	}
	v.send(status, "application/json", text)
}

// send responds with a body that is in memory.
func (v *visit) send(status int, contentType string, body []byte) {
	h := v.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	v.w.WriteHeader(status)
	if placeOf(v.r.Context()).stays {
		_, _ = v.w.Write(body) // its slot bounds the memory; an error means that the client has disconnected
		return
	}
	_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(sendTime)) // a test's writer has none
	v.unsent.send(v.w, body)
}

// functions are what templates call.
var functions = template.FuncMap{
	"asset":      assetPath,
	"number":     humanize.Comma,
	"count":      func(n any, noun string) string { return count(reflect.ValueOf(n).Int(), noun) },
	"limitOf":    formatLimitOf,
	"size":       func(n int64) string { return humanize.IBytes(uint64(n)) },
	"date":       func(t time.Time) template.HTML { return timeElement(t, time.DateOnly, dateForm) },
	"dateOfDay":  func(day string) template.HTML { return timeElement(dayOf(day), time.DateOnly, dateForm) },
	"time":       func(t time.Time) template.HTML { return timeElement(t, time.RFC3339, dateForm+", 15:04 UTC") },
	"day":        func(day string) string { return formatDate(dayOf(day)) }, // where no element can be
	"limit":      formatLimit,
	"plansOf":    func(plans []string, plan string) plansOf { return plansOf{plans, plan} },
	"nav":        navLink,
	"tab":        tabLink,
	"starts":     docs.Policies,
	"lookups":    func() []grace { return supposedLookups },
	"barsPath":   barsPath,
	"requests":   requestsOf,
	"flawIn":     func(id string, f *flaw) flawIn { return flawIn{id, f} },
	"more":       func(keys []keyName) string { return strconv.Itoa(len(keys)-3) + " more" },
	"deref":      func(n *int64) int64 { return *n },
	"visible":    visible,
	"policyTest": policyTestOf,

	"passkeyForm": newPasskeyForm,
}

// A navItem is a link of the navigation.
type navItem struct {
	Path, Label string
	Here        bool
}

func navLink(f *frame, path, label string) navItem { return navItem{path, label, f.Here(path)} }

// tabLink is a link to the first of several pages, whose paths are below its path.
func tabLink(f *frame, path, label string) navItem { return navItem{path, label, f.Path == path} }

// plansOf are the options of a plan.
type plansOf struct {
	Plans []string
	Plan  string // the one selected
}

// formatLimit returns a limit as people read it.
func formatLimit(l book.Limit) string {
	if l == book.Unlimited {
		return "unlimited"
	}
	return humanize.Comma(int64(l))
}

// formatLimitOf returns a limit with its noun.
func formatLimitOf(l book.Limit, noun string) string {
	if l == book.Unlimited {
		return "unlimited " + english.PluralWord(0, noun, "")
	}
	return count(int64(l), noun)
}

// count returns a number with its noun: 1 point, 2,000 points.
func count(n int64, noun string) string { return english.Plural(int(n), noun, "") }

// dateForm is the one form of dates, in pages and sentences.
const dateForm = "2 Jan 2006"

// formatDate returns a date in UTC.
func formatDate(t time.Time) string { return t.UTC().Format(dateForm) }

// timeElement returns an element that people and machines can read; the zero time
// is empty.
func timeElement(t time.Time, machine, form string) template.HTML {
	if t.IsZero() {
		return ""
	}
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(machine) + `">` + t.Format(form) + `</time>`)
}

// dayOf returns the time of a day such as 2026-11-22, which ledger.Day.String made;
// "" is the zero time.
func dayOf(day string) time.Time {
	t, _ := time.Parse(time.DateOnly, day)
	return t
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// An outcome is what a POST leads to: another page with a message, or, if data is
// not nil, the route's own page, once.
type outcome struct {
	location string
	done     string // a message of the table messages
	data     any
	refused  *problem // with the input, shown with data
	stream   func()   // sends the response instead
}

// redirect leads to another page, with a message there.
func redirect(location, done string) *outcome { return &outcome{location: location, done: done} }

// show renders data in the route's page, as the response to the POST. It is for what
// may be posted again; see showOnce for new secrets.
func show(data any) *outcome { return &outcome{data: data} }

func (a *outcome) send(v *visit, route route) {
	switch {
	case a.stream != nil:
		a.stream()
	case a.refused != nil:
		v.render(a.refused.status, route, a.data, a.refused)
	case a.data != nil:
		v.render(http.StatusOK, route, a.data, nil)
	case v.json:
		v.renderJSON(http.StatusOK, struct {
			Done     string `json:"done"`
			Location string `json:"location"`
		}{messages[a.done], a.to()})
	default:
		v.w.Header().Set("Cache-Control", "no-store")
		http.Redirect(v.w, v.r, a.to(), http.StatusSeeOther)
	}
}

// to returns the location, which names the message.
func (a *outcome) to() string {
	switch {
	case a.done == "":
		return a.location
	case strings.Contains(a.location, "?"):
		return a.location + "&done=" + a.done
	}
	return a.location + "?done=" + a.done
}

// messages has what a page says after an action. The address of the page names
// the message, so nobody can put words on our pages with a link.
var messages = map[string]string{
	"key-changed":       "The key is changed. Its next request follows the new terms.",
	"key-revoked":       "The key is revoked. Requests with it are refused from now on.",
	"policy-created":    "The policy is created. A key can have it by default, and requests can name it.",
	"policy-changed":    "The policy is saved. It decides from the next request.",
	"policy-deleted":    "The policy is deleted.",
	"webhook-removed":   "The webhook is removed. Messages that waited are not sent.",
	"account-created":   "The account is created. Make a one-time link for its owner.",
	"account-changed":   "The terms are changed. They apply from the next request.",
	"account-suspended": "The account is suspended. Its requests are refused from now on.",
	"account-resumed":   "The account is resumed. Its keys are valid again.",
	"plan-stored":       "The plan is stored. It applies from the next request of its accounts.",
	"password-set":      "The password is set. Other browsers are signed out.",
	"before-revoked":    "The keys and the webhook from before are revoked. Set a password now.",
	"name-set":          "Your name is changed.",
	"session-ended":     "That browser is signed out.",
	"sessions-ended":    "All other browsers are signed out.",
	"signed-out":        "You are signed out.",
	"confirmed":         "Thank you.",

	"totp-set":          "The authenticator app is set up. From now on you are asked for its code after your password.",
	"totp-removed":      "The authenticator app and the recovery codes are removed.",
	"passkey-added":     "The passkey is ready. You can sign in with it from now on.",
	"passkey-removed":   "The passkey is removed. Delete it on the device as well.",
	"identity-linked":   "The identity is linked. You can sign in with it from now on.",
	"account-deleted":   "The account is deleted.",
	"identity-unlinked": "The identity is unlinked.",
}

// maxVisible is how many characters of a pasted text a page repeats.
const maxVisible = 320

// visible returns text with control, format and bidirectional characters written
// as their code points, so that it looks like what it is. A text that is far longer
// than an address is cut.
func visible(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > maxVisible {
			return fmt.Sprintf("%s… (%s)", b.String(), count(int64(len(text)), "byte"))
		}
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			fmt.Fprintf(&b, "[U+%04X]", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
