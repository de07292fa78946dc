package dashboard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
)

// A preview is a page in one state, with fixed data: nothing of it comes from a
// database. Developers look at it, and tests check every one in a browser. Each
// group of pages has its previews in a file of its own.
type preview struct {
	page  string // its template
	state string
	frame frame
}

// previews returns all of them, in the order of the index.
func previews() []preview {
	groups := [][]preview{publicPreviews(), signInPreviews(), overviewPreviews(), usagePreviews(), tryPreviews(), listsPreviews(), keysPreviews(), settingsPreviews(), factorPreviews(), operatorPreviews(), problemPreviews()}
	var list []preview
	for _, group := range groups {
		list = append(list, group...)
	}
	return list
}

// path returns where the preview is served.
func (p *preview) path() string { return "/preview/" + p.page + "/" + p.state }

// What previews share.
var (
	previewTime = time.Date(2026, time.November, 22, 14, 5, 0, 0, time.UTC)
	previewDay  = ledger.DayOf(previewTime)
	owner       = &identity.User{Account: 1, Email: "owner@shop.example", Name: "Ada", HasPassword: true}
	newcomer    = &identity.User{Account: 1, Email: "owner@shop.example"}
	theOperator = &identity.User{Account: 2, Email: "operator@addrspec.example", HasPassword: true, Operator: true}
)

// ago returns the time some days before the one of the previews.
func ago(days int) time.Time { return previewTime.AddDate(0, 0, -days) }

// refused is the problem of a form.
func refused(sentence string) *problemView { return viewOf(inputProblem("", sentence)) }

// Previews returns the handler of "addrspec dashboard preview": every page in every
// state at /preview/PAGE/STATE, and a list of them at /preview/.
func Previews(release string) http.Handler {
	d := &Dashboard{Config: Config{PublicURL: &url.URL{Scheme: "http", Host: "localhost"}, Release: release}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /assets/{release}/{name}", serveAsset)
	mux.HandleFunc("GET /preview/{$}", previewIndex)
	for _, p := range previews() {
		mux.HandleFunc("GET "+p.path(), func(w http.ResponseWriter, _ *http.Request) { d.showPreview(w, p) })
	}
	mux.HandleFunc("/", previewOfPath)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.setSecurityHeaders(w.Header())
		mux.ServeHTTP(w, r)
	})
}

func (d *Dashboard) showPreview(w http.ResponseWriter, p preview) {
	page, err := renderPreview(p, d.Release)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page)
}

// renderPreview renders a preview under the title of its page.
func renderPreview(p preview, release string) ([]byte, error) {
	f := p.frame
	f.Release = release
	routes := new(Dashboard).routes()
	if route, ok := routes[f.Path]; ok && f.Title == "" {
		f.Title = route.title
	}
	for _, path := range sortedKeys(routes) {
		if f.Title == "" && routes[path].file == p.page {
			f.Title = routes[path].title
		}
	}
	return renderPage(p.page, &f)
}

// A previewLink is a line of the index.
type previewLink struct {
	Page  string `json:"page"`
	State string `json:"state"`
	Path  string `json:"path"`
}

// previewIndex lists all previews, as a page or as JSON.
func previewIndex(w http.ResponseWriter, r *http.Request) {
	var links []previewLink
	for _, p := range previews() {
		links = append(links, previewLink{p.page, p.state, p.path()})
	}
	if wantsJSON(r) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(links)
		return
	}
	page, err := renderPage(previewFile, &frame{Title: "Preview", Data: links})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page)
}

// previewFile is the template of the index.
const previewFile = "preview"

// previewOfPath leads a link of a page to the first preview of the page it names.
func previewOfPath(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		http.Error(w, "The preview stores nothing: forms have no effect here.", http.StatusMethodNotAllowed)
		return
	}
	for _, p := range previews() {
		if p.frame.Path == r.URL.Path {
			http.Redirect(w, r, p.path(), http.StatusSeeOther)
			return
		}
	}
	http.Redirect(w, r, "/preview/", http.StatusSeeOther)
}
