package dashboard

import (
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/module"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

func (s *site) publicPages() []string {
	list := []string{"/"}
	for _, page := range s.docs().Pages {
		list = append(list, page.Path)
	}
	return list
}

type element struct {
	name  string
	attrs map[string]string
	text  string            // up to the next tag
	form  map[string]string // the attributes of its form
}

// parsePage returns the elements of a page. Each must be closed by its own end
// tag, in order.
func parsePage(t *testing.T, path, page string) (list []element) {
	var open []string
	var form map[string]string
	tokens := html.NewTokenizer(strings.NewReader(page))
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			require.Empty(t, open, "%s: not closed", path)
			return list
		case html.TextToken:
			if len(list) > 0 && list[len(list)-1].text == "" {
				list[len(list)-1].text = string(tokens.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := tokens.TagName()
			e := element{name: string(name), attrs: map[string]string{}}
			for more {
				var key, value []byte
				key, value, more = tokens.TagAttr()
				require.NotContains(t, e.attrs, string(key), "%s: <%s> has the attribute twice", path, name)
				e.attrs[string(key)] = string(value)
			}
			if e.name == "form" {
				form = e.attrs
			}
			e.form = form
			list = append(list, e)
			if kind == html.StartTagToken && !slices.Contains([]string{"meta", "link", "input", "br", "hr", "img"}, e.name) {
				open = append(open, e.name)
			}
		case html.EndTagToken:
			name, _ := tokens.TagName()
			require.NotEmpty(t, open, "%s: </%s>", path, name)
			require.Equal(t, open[len(open)-1], string(name), "%s: closed out of order after %v", path, list[len(list)-1])
			open = open[:len(open)-1]
			if string(name) == "form" {
				form = nil
			}
		}
	}
}

// Public pages are well-formed, with headings in order. Every link and anchor in them leads somewhere, and so does
// what the service, its worker and its handbooks link to in the documentation: pages of a dashboard, which this
// test does not see, and sentences of programs.
func TestPublicPages(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	b := s.browser(t)
	pages := map[string][]element{}
	ids := map[string][]string{}
	for _, path := range s.publicPages() {
		got := b.get(path)
		require.Equal(t, http.StatusOK, got.status, path)
		require.NotContains(t, got.body, "raw HTML omitted", path)
		pages[path] = parsePage(t, path, got.body)
		requireHeadings(t, path, pages[path])
		var regions []string // which screen readers list, so their names differ
		for _, e := range pages[path] {
			if id := e.attrs["id"]; id != "" {
				require.NotContains(t, ids[path], id, path)
				ids[path] = append(ids[path], id)
			}
			if e.attrs["role"] == "region" {
				require.NotEmpty(t, e.attrs["aria-label"], path)
				require.NotContains(t, regions, e.attrs["aria-label"], path)
				regions = append(regions, e.attrs["aria-label"])
			}
		}
	}
	for path, page := range pages {
		for _, e := range page {
			if href, ok := e.attrs["href"]; ok && e.name == "a" {
				s.requireTarget(b, path, href, ids)
			}
		}
	}
	ofDocumentation, found := regexp.MustCompile(`["'(](/docs(?:/[a-z-]+)?(?:#[\w.-]+)?)["') ]`), 0
	for _, root := range []string{"..", "../../edge/src", "../../README.md", "../../wasm/bindings/README.md"} {
		require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
			if entry.IsDir() || !slices.Contains([]string{".go", ".html", ".js", ".json", ".md", ".ts"}, filepath.Ext(file)) || strings.HasSuffix(file, "_test.go") {
				if entry.Name() == "node_modules" {
					return fs.SkipDir
				}
				return err
			}
			text, err := os.ReadFile(file)
			for _, link := range ofDocumentation.FindAllStringSubmatch(string(text), -1) {
				found++
				s.requireTarget(b, file, link[1], ids)
			}
			return err
		}))
	}
	require.Greater(t, found, 50)
}

func requireHeadings(t *testing.T, path string, page []element) {
	last := 0
	for _, e := range page {
		if len(e.name) != 2 || e.name[0] != 'h' || e.name[1] < '1' || e.name[1] > '6' {
			continue
		}
		level := int(e.name[1] - '0')
		require.False(t, level == 1 && last != 0, "%s: a second h1 %q", path, e.text)
		require.LessOrEqual(t, level, last+1, "%s: %q skips a level", path, e.text)
		require.NotEmpty(t, strings.TrimSpace(e.text), "%s: an empty heading", path)
		last = level
	}
	require.NotZero(t, last, path)
}

// requireTarget requires that a link leads to a page, and to an anchor in it.
func (s *site) requireTarget(b *browser, path, href string, ids map[string][]string) {
	target, err := url.Parse(href)
	require.NoError(b, err, path)
	if target.Host != "" {
		require.Equal(b, "https", target.Scheme, "%s: %s", path, href)
		return
	}
	to := target.Path
	if to == "" {
		to = path
	}
	if anchor := target.Fragment; anchor != "" && ids[to] != nil {
		require.Contains(b, ids[to], anchor, "%s: %s", path, href)
	}
	if ids[to] == nil && to != "/openapi.json" { // which package api serves
		require.Contains(b, []int{http.StatusOK, http.StatusSeeOther, http.StatusMovedPermanently}, b.get(to).status, "%s: %s", path, href)
	}
}

// The front door's example is what the API returns: the module's result with MX.
func TestFrontExample(t *testing.T) {
	engine := must(host.New(t.Context(), moduletest.Bytes(t), host.Options{CacheDir: moduletest.CacheDir()}))(t)
	defer engine.Close(t.Context())
	view := engine.View()
	facts := must(view.Check(t.Context(), nil, exampleAddress, 0))(t)
	require.NoError(t, view.Resolve(t.Context(), &facts, host.Lookup{MX: true, Exchanges: "mail.hotmial.com"}))
	require.JSONEq(t, string(facts.Result()), frontExample)

	var door struct{ Address, URL string }
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	s.browser(t).getJSON("/", &door)
	require.Equal(t, s.url+"/v1/email/"+exampleAddress, door.URL)
}

// Only a setting leads people to source code.
func TestSourceCode(t *testing.T) {
	for _, source := range []string{"", "https://git.example/fork"} {
		s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{SourceURL: source})
		require.Equal(t, source != "", strings.Contains(s.browser(t).get("/").body, `<a href="`+source+`">Source code</a>`))
	}
}

// Customers have no shell on the service's machine: only operators' pages name commands.
func TestPagesOfCustomersNameNoCommand(t *testing.T) {
	require.NoError(t, fs.WalkDir(templateFiles, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), "operator-") {
			return err
		}
		text, err := templateFiles.ReadFile(file)
		require.NotContains(t, string(text), "<code>addrspec ", file)
		return err
	}))
}

// A program reads the documentation as JSON.
func TestDocumentationAsJSON(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	b := s.browser(t)
	var page map[string]any
	require.Equal(t, http.StatusOK, b.getJSON("/docs/errors", &page).status)
	require.Equal(t, []string{"contents", "html", "markdown", "next", "path", "previous", "summary", "title"}, slices.Sorted(maps.Keys(page)))
	require.Contains(t, page["html"], "INVALID_API_KEY")

	require.Equal(t, http.StatusNotFound, b.get("/docs/no-such-page").status)
	require.Equal(t, "/openapi.json", b.get("/docs/openapi.json").header.Get("Location"))
	require.Contains(t, b.get("/docs/errors").body, "<title>Handle errors · addrspec</title>")
	require.Contains(t, b.get("/docs/check-email").body, s.url+"/v1/email/", "the examples have the service's URL")
}

var markdownLinks = regexp.MustCompile(`\]\(([^)#]+)`)

// Each guide and each page of the reference is Markdown at its own address with .md, to which the page and
// llms.txt link. Links of the Markdown work without the page's address, and lead to Markdown.
func TestMarkdown(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	b := s.browser(t)
	asked := map[string]bool{s.url + "/openapi.json": true} // which package api serves
	requireLinks := func(text string) {
		for _, link := range markdownLinks.FindAllStringSubmatch(text, -1) {
			to, own := strings.CutPrefix(link[1], s.url)
			require.True(t, own || strings.HasPrefix(to, "https://"), to)
			if !own || asked[link[1]] {
				continue
			}
			asked[link[1]] = true
			if strings.HasPrefix(to, "/dashboard") {
				expect(t, http.StatusSeeOther, b.get(to)) // nobody is signed in
			} else if to != "/docs/openapi.json" {
				expect(t, http.StatusOK, b.get(to))
			}
		}
	}
	list := expect(t, http.StatusOK, b.get("/llms.txt"), "# addrspec\n\n> ", "\n## Reference\n", "]("+s.url+"/openapi.json)")
	require.Equal(t, "text/plain; charset=utf-8", list.header.Get("Content-Type"))
	requireLinks(list.body)
	pages := 0
	for _, group := range s.docs().Groups {
		for _, link := range group.Links {
			pages++
			require.Contains(t, list.body, "- ["+link.Title+"]("+s.url+link.Path+".md): ")
			shown := expect(t, http.StatusOK, b.get(link.Path), `<link rel="alternate" type="text/markdown" href="`+link.Path+`.md">`)
			text := expect(t, http.StatusOK, b.get(link.Path+".md"), "# "+link.Title+"\n")
			require.Equal(t, "text/markdown; charset=utf-8", text.header.Get("Content-Type"))
			for _, name := range []string{"Cache-Control", "Content-Security-Policy", "X-Content-Type-Options", "Vary"} {
				require.Equal(t, shown.header[name], text.header[name], name)
			}
			require.NotRegexp(t, "```(examples|moved)|127\\.0\\.0\\.1:8080|\\]\\(/", text.body)
			requireLinks(text.body)
		}
	}
	require.Equal(t, len(s.docs().Pages)-2, pages, "all but those that list the others")
	expect(t, http.StatusOK, b.get("/docs/check-email.md"), "```sh\ncurl -H", s.url+"/v1/email/")
	for _, path := range []string{"/docs.md", "/docs/all.md", "/docs/none.md", "/docs/errors.md.md", "/llms.txt/x"} {
		require.Equal(t, http.StatusNotFound, b.get(path).status, path)
	}
}

// maxReceived is how many bytes a browser may receive for a page with everything it
// loads but the module and the index, which it loads when somebody is about to type. Pages themselves are not compressed: they have tokens.
const maxReceived = 50_000

var references = regexp.MustCompile(`/assets/\w+/([\w.-]+)|from "\./([\w.-]+)"|import\("\./([\w.-]+)"\)|import "\./([\w.-]+)"`)

// weight returns the bytes of a page with what it loads, and what that loads.
func weight(s *site, page string) int {
	total, texts, seen := len(page), []string{page}, map[string]bool{moduleAsset: true, indexAsset: true}
	for len(texts) > 0 {
		text := texts[0]
		texts = texts[1:]
		for _, found := range references.FindAllStringSubmatch(text, -1) {
			name := strings.Join(found[1:], "")
			if !seen[name] {
				seen[name] = true
				texts = append(texts, string(assets()[name].body))
				total += getAsset(s, name, "gzip").Body.Len()
			}
		}
	}
	return total
}

func getAsset(s *site, name, encoding string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", assetPath(name), nil)
	r.Header.Set("Accept-Encoding", encoding)
	got := httptest.NewRecorder()
	s.ServeHTTP(got, r)
	return got
}

// Assets, of which the module is the embedded one, are the same bytes with and without compression. Browsers
// keep those of this release.
func TestCompressedAssets(t *testing.T) {
	s, b := ownSite(t)
	wasm := must(module.Bytes())(t)
	got := expect(t, http.StatusOK, b.get(assetPath(moduleAsset))) // the client asks for gzip and decompresses
	require.Equal(t, string(wasm), got.body)
	require.Equal(t, "application/wasm", got.header.Get("Content-Type"))
	require.Contains(t, got.header.Get("Cache-Control"), "immutable")
	require.Equal(t, "no-cache", b.get("/assets/older/"+moduleAsset).header.Get("Cache-Control"))
	expect(t, http.StatusNotFound, b.get("/assets/older/nothing.js"))
	for name, asset := range assets() {
		got := getAsset(s, name, "gzip, br")
		require.Equal(t, http.StatusOK, got.Code, name)
		require.Equal(t, "gzip", got.Header().Get("Content-Encoding"), name)
		require.Equal(t, "Accept-Encoding", got.Header().Get("Vary"), name)
		z, err := gzip.NewReader(got.Body)
		require.NoError(t, err, name)
		body, err := io.ReadAll(z)
		require.NoError(t, err, name)
		require.Equal(t, string(asset.body), string(body), name)
		require.Equal(t, string(asset.body), getAsset(s, name, "identity").Body.String(), name)
	}
}
