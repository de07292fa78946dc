package dashboard

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/addrspec/addrspec/origin/identity"
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

// Here reports whether the page is path or below it.
func (f *frame) Here(path string) bool {
	return f.Path == path || path != "/dashboard" && strings.HasPrefix(f.Path, path+"/")
}

// render answers with a page, or with its data as JSON.
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

// renderJSON answers with JSON. Its header has the token that a POST must bring
// back.
func (v *visit) renderJSON(status int, body any) {
	if v.token != "" {
		v.w.Header().Set(tokenHeader, v.formToken())
	}
	text, err := json.Marshal(body)
	if err != nil {
		v.Log.Error("a page cannot be rendered as JSON", "error", err.Error())
		status, text = http.StatusInternalServerError, []byte(`{"error":"The answer cannot be written.","code":"INTERNAL_ERROR"}`)
	}
	v.send(status, "application/json", text)
}

func (v *visit) send(status int, contentType string, body []byte) {
	h := v.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body) // an error means that the client has disconnected
}
