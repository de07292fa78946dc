// Package docs has the documentation that the service serves under /docs: the guides and
// the reference, which are Markdown files under guides/ and reference/. Program generate
// renders them to site.json, which is embedded:
//
//	go generate ./origin/dashboard/docs
//
// Tests compare site.json with the Markdown, and the reference with the OpenAPI
// description. Layout, style, the search itself and HTTP are in package dashboard.
package docs

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"
)

//go:generate go run ./generate

// Root is the path of the first page, All that of the page with every heading.
const (
	Root = "/docs"
	All  = Root + "/all"
)

// Placeholder is the service's URL in pages and examples: that of ./build.sh run.
const Placeholder = "http://127.0.0.1:8080"

// A Site is all pages.
type Site struct {
	url      string
	Pages    []*Page  `json:"pages"` // in reading order, the first page and All at the end
	Groups   []Group  `json:"groups"`
	Policies []Policy `json:"policies"`
	// Index is for the search box:
	//
	//	{"pages": [["/docs/start", "Get started"], ...], "entries": [[0, "send-the-key", "Send the key", "Send the ...", ""], ...]}
	//
	// An entry has the number of its page, its anchor, its title, its text and its other names,
	// separated by line feeds: the statuses of an error. The anchor of
	// a row of a table is HEADING.NAME, and the row comes after the section that it belongs to.
	Index json.RawMessage `json:"index"`
}

// A Page is one page of the documentation.
type Page struct {
	Path     string        `json:"path"`
	Title    string        `json:"title"`
	Summary  string        `json:"summary"`
	Body     template.HTML `json:"html"` // begins below the title; its headings begin at h2
	Contents []Heading     `json:"contents"`
	Previous *Link         `json:"previous,omitempty"`
	Next     *Link         `json:"next,omitempty"`
	// Markdown is the whole page with its title; "" for a page that only lists the others.
	Markdown string  `json:"markdown,omitempty"`
	Site     []Group `json:"-"`
}

// MarkdownEnding follows the path of a page in that of its Markdown.
const MarkdownEnding = ".md"

// PageTitle returns the title of the browser's window.
func (p *Page) PageTitle() string { return p.Title }

// A Link leads to a page.
type Link struct {
	Path  string `json:"path"`
	Title string `json:"title"`
}

// A Group is a part of the documentation, such as the guides.
type Group struct {
	ID    string `json:"id"` // its anchor on the first page
	Title string `json:"title"`
	Links []Link `json:"links"`
}

// A Heading is an h2 or h3 of a page; ID is its anchor.
type Heading struct {
	Level int    `json:"level"`
	ID    string `json:"id"`
	Text  string `json:"text"`
}

// A Policy is a document of the guide's section "Policies to begin with".
type Policy struct {
	Name     string `json:"name"`
	Document string `json:"document"`
}

//go:embed site.json
var generated []byte

// parsed has the site with the placeholder. Most commands show no documentation.
var parsed = sync.OnceValue(func() (s Site) {
	if err := json.Unmarshal(generated, &s); err != nil {
		panic(err) // it is embedded
	}
	return s
})

// New returns the documentation of the service at url.
func New(url string) *Site {
	s := parsed()
	s.url = strings.TrimSuffix(url, "/")
	escaped := template.HTMLEscapeString(s.url)
	s.Pages = slices.Clone(s.Pages)
	for n, p := range s.Pages {
		page := *p
		page.Site = s.Groups
		page.Body = template.HTML(strings.ReplaceAll(string(page.Body), Placeholder, escaped)) //nolint:gosec // the URL is escaped
		page.Markdown = strings.ReplaceAll(page.Markdown, Placeholder, s.url)
		s.Pages[n] = &page
	}
	return &s
}

// LLMs returns llms.txt (llmstxt.org): the pages as Markdown, for assistants.
func (s *Site) LLMs() string {
	var b strings.Builder
	b.WriteString("# addrspec\n\n> Facts about an email address: whether it is valid, and what is known of mailbox and domain.\n")
	for _, g := range s.Groups {
		fmt.Fprintf(&b, "\n## %s\n\n", g.Title)
		for _, l := range g.Links {
			fmt.Fprintf(&b, "- [%s](%s%s): %s\n", l.Title, s.url, l.Path+MarkdownEnding, s.Page(l.Path).Summary)
		}
	}
	fmt.Fprintf(&b, "\n## Optional\n\n- [OpenAPI](%s/openapi.json): From it, clients can be generated.\n", s.url)
	return b.String()
}

// Page returns the page at path, or nil.
func (s *Site) Page(path string) *Page {
	for _, p := range s.Pages {
		if p.Path == path {
			return p
		}
	}
	return nil
}

// Index returns what the search box searches: Site.Index.
func Index() []byte { return parsed().Index }

// Policies returns the policies of the guide's section "Policies to begin with".
func Policies() []Policy { return parsed().Policies }

//go:embed examples
var exampleFiles embed.FS

// An Example is a program that the documentation shows.
type Example struct {
	Language string // as people call it
	File     string // below examples/
	Text     string
}

// languages has the languages of examples by file name, in the order of the pages.
var languages = []struct{ file, name string }{
	{"example.py", "Python"}, {"example.mjs", "JavaScript"}, {"example.sh", "curl"}, {"main.go", "Go"},
	{"postgresql.sql", "PostgreSQL"}, {"mysql.sql", "MySQL"}, {"sqlite.sql", "SQLite"},
}

// Examples returns the programs in examples/NAME.
func Examples(name string) (list []Example, err error) {
	for _, l := range languages {
		file := name + "/" + l.file
		if text, err := exampleFiles.ReadFile("examples/" + file); err == nil {
			list = append(list, Example{l.name, file, string(text)})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("examples/%s has no example", name)
	}
	return list, nil
}
