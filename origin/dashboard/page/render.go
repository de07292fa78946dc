package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/words"
)

// ParseTemplates returns a set for each page: the layout, the parts that pages share, and the page itself.
func ParseTemplates(files fs.FS, further template.FuncMap) map[string]*template.Template {
	shared := template.New("layout").Funcs(functions).Funcs(further)
	shared = template.Must(shared.ParseFS(files, "templates/layout.html", "templates/parts/*.html"))
	pages, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err)
	}
	sets := map[string]*template.Template{}
	for _, file := range pages {
		if name := strings.TrimSuffix(path.Base(file), ".html"); name != "layout" {
			sets[name] = template.Must(template.Must(shared.Clone()).ParseFS(files, file))
		}
	}
	return sets
}

// A Frame is what a template gets: the page's data and what is around it.
type Frame struct {
	Title   string
	Path    string
	User    *identity.User // nil if nobody is signed in
	Token   string         // of forms
	Problem *Problem
	Done    string
	Form    url.Values // of a form that is shown again
	SignUp  bool
	Release string
	Data    any
}

// Value returns a field of the form that is shown again.
func (f *Frame) Value(field string) string { return f.Form.Get(field) }

// Kept returns what was given in a field of a form that is shown again, else what is
// stored.
func (f *Frame) Kept(field, stored string) string {
	if f.Form.Has(field) {
		return f.Value(field)
	}
	return stored
}

// Nav returns a link of the navigation, which is current on the page with the path and on those whose
// paths begin with one of below.
func (f *Frame) Nav(label, path string, below ...string) template.HTML {
	current, begins := "", func(prefix string) bool { return strings.HasPrefix(f.Path, prefix) }
	if f.Path == path || slices.ContainsFunc(below, begins) {
		current = ` aria-current="page"`
	}
	return template.HTML(`<a href="` + path + `"` + current + `>` + label + `</a>`)
}

// notShared keeps caches from giving a response to somebody else.
func (v *Visit) notShared() {
	v.Writer.Header().Set("Cache-Control", "no-store")
	v.Writer.Header().Add("Vary", "Accept, Cookie")
}

func (v *Visit) render(status int, route Route, data any, p *Problem) {
	v.notShared()
	switch {
	case v.JSON && p != nil:
		v.renderJSON(status, p)
		return
	case v.JSON:
		v.renderJSON(status, data)
		return
	}
	f := &Frame{Title: route.title, Path: v.Request.URL.Path, Token: v.formToken(), SignUp: v.SignUp, Release: v.Release,
		Data: data, Form: v.Form, Done: v.messages[v.Request.URL.Query().Get("done")], Problem: p}
	if v.SignedIn() {
		f.User = v.User
	}
	if named, ok := data.(interface{ PageTitle() string }); ok {
		f.Title = named.PageTitle()
	}
	var page bytes.Buffer
	err := v.InTurn(context.WithoutCancel(v.Whole), func() error { // a page takes a processor for milliseconds
		return v.templates()[route.file].ExecuteTemplate(&page, "layout", f)
	})
	if err != nil {
		v.Log.Error("a page cannot be rendered", "page", route.file, "error", err.Error())
		http.Error(v.Writer, "The page cannot be shown because of a fault in the service.", http.StatusInternalServerError)
		return
	}
	v.send(status, "text/html; charset=utf-8", page.Bytes())
}

// renderJSON responds with a header that has the token that a POST must bring back.
func (v *Visit) renderJSON(status int, body any) {
	if v.Token != "" {
		v.Writer.Header().Set(tokenHeader, v.formToken())
	}
	text, err := json.Marshal(body)
	if err != nil {
		v.Log.Error("a page cannot be rendered as JSON", "error", err.Error())
		status = http.StatusInternalServerError
		text = []byte(`{"error":"The response cannot be written.","code":"INTERNAL_ERROR"}`)
	}
	v.send(status, "application/json", text)
}

// functions are what templates call, besides those of the pages.
var functions = template.FuncMap{
	"number":    humanize.Comma,
	"count":     func(n any, noun string) string { return words.Count(reflect.Indirect(reflect.ValueOf(n)).Int(), noun) },
	"size":      func(n int64) string { return humanize.IBytes(uint64(n)) },
	"date":      func(t time.Time) template.HTML { return timeElement(t, time.DateOnly, words.Date) },
	"dateOfDay": func(day string) template.HTML { return timeElement(dayOf(day), time.DateOnly, words.Date) },
	"time":      func(t time.Time) template.HTML { return timeElement(t, time.RFC3339, words.Time) },
	"day":       func(day string) string { return words.Date(dayOf(day)) }, // where no element can be
	"visible":   Visible,
	"limit": func(l book.Limit) string {
		if l == book.Unlimited {
			return "unlimited"
		}
		return humanize.Comma(int64(l))
	},
	"limitOf": func(l book.Limit, noun string) string {
		if l == book.Unlimited {
			return "unlimited " + english.PluralWord(0, noun, "")
		}
		return words.Count(int64(l), noun)
	},
}

// timeElement returns an element that people and machines can read; the zero time
// is empty.
func timeElement(t time.Time, machine string, human func(time.Time) string) template.HTML {
	if t.IsZero() {
		return ""
	}
	return template.HTML(`<time datetime="` + t.UTC().Format(machine) + `">` + human(t) + `</time>`)
}

// dayOf returns the time of a day such as 2026-11-22, which book.Day.String made;
// "" is the zero time.
func dayOf(day string) time.Time {
	t, _ := time.Parse(time.DateOnly, day)
	return t
}

func (o *Outcome) send(v *Visit, route Route) {
	switch {
	case o.Stream != nil:
		o.Stream()
	case o.Text != "":
		v.notShared()
		v.send(http.StatusOK, o.TextType, []byte(o.Text))
	case o.Refused != nil:
		v.render(o.Refused.Status, route, o.Data, o.Refused)
	case o.Data != nil:
		v.render(http.StatusOK, route, o.Data, nil)
	case v.JSON:
		v.renderJSON(http.StatusOK, struct {
			Done     string `json:"done"`
			Location string `json:"location"`
		}{v.messages[o.done], o.location})
	default:
		v.Writer.Header().Set("Cache-Control", "no-store")
		http.Redirect(v.Writer, v.Request, o.location, http.StatusSeeOther)
	}
}

// maxVisible is how many characters of a pasted text a page repeats.
const maxVisible = 320

// Visible returns text with control, format and bidirectional characters written
// as their code points, so that it looks like what it is. A text that is far longer
// than an address is cut.
func Visible(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		n++
		if n > maxVisible {
			return fmt.Sprintf("%s… (%s)", b.String(), words.Count(int64(len(text)), "byte"))
		}
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			fmt.Fprintf(&b, "[U+%04X]", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// refuse ends a visit that goes no further. Browsers without a session are led to the page that helps.
func (v *Visit) refuse(err error) {
	p := ProblemOf(err)
	if p.Status == http.StatusInternalServerError {
		v.Log.Error("a page failed", "error", err.Error())
	}
	if p.Location != "" && !v.JSON {
		to := v.Request.URL.Path // of its form, for a POST
		if v.Request.Method == http.MethodGet && v.Request.URL.RawQuery != "" {
			to += "?" + v.Request.URL.RawQuery
		}
		http.Redirect(v.Writer, v.Request, p.Location+"?to="+url.QueryEscape(to), http.StatusSeeOther)
		return
	}
	if p.Wait > 0 {
		v.Writer.Header().Set("Retry-After", strconv.Itoa(words.WholeSeconds(p.Wait)))
	}
	v.render(p.Status, Route{title: http.StatusText(p.Status), file: "problem"}, struct{}{}, p)
}

// send responds with a body that is in memory. A page has left its place when it is sent, so a client that
// does not read it keeps nobody from a page. A page of a quarter of a step is not counted, because the
// number of connections bounds those.
func (v *Visit) send(status int, contentType string, body []byte) {
	if !v.kept {
		v.release()
		_ = http.NewResponseController(v.Writer).SetWriteDeadline(time.Now().Add(sendTime)) // a test's writer has none
		if n := min(len(body)/step+1, maxUnsentEach/2); len(body) > step/4 {
			free, err := take(v.Whole, v.Limits.Unsent, v.CallerNetwork(v.Request), n, ErrBusyNetwork)
			if err != nil {
				p := ProblemOf(err)
				v.Writer.Header().Set("Retry-After", "1")
				http.Error(v.Writer, p.Sentence, p.Status)
				return
			}
			defer free()
		}
	}
	h := v.Writer.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	v.Writer.WriteHeader(status)
	_, _ = v.Writer.Write(body) // an error means that the client has disconnected
}
