// Package docs renders the documentation that the service serves under /docs: the
// guides and the reference, Markdown files under guides/ and reference/. A test holds
// the reference to the OpenAPI description.
//
// It is pure: files in, pages and the index for the search box out, all of them at the
// first use. Layout, style, the search itself and HTTP are in package dashboard.
//
// Code in the pages is not typed into them. A block such as
//
//	```examples check-email
//	```
//
// shows the programs in examples/check-email, and tests of the command run these
// files against a service.
//
// Where sections move to another page, their old one has a block with their titles,
//
//	```moved PAGE
//	Title
//	```
//
// which keeps their anchors: links that lead on.
package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"sync"
)

// Root is the path of the first page, All that of the page with every heading.
const (
	Root = "/docs"
	All  = Root + "/all"
)

// placeholder is the service's URL in pages and examples: that of ./build.sh run.
const placeholder = "http://127.0.0.1:8080"

// sections has the parts of the documentation, with their pages in reading order:
// DIRECTORY/NAME.md is the page /docs/NAME.
var sections = []struct {
	title, directory string
	names            []string
}{
	{"Guides", "guides", []string{"start", "errors", "retries", "lists", "policies", "browser", "assistants", "testing", "webhooks", "plans"}},
	{"Reference", "reference", []string{"api", "check-email", "check-emails", "get-usage", "result", "details"}},
}

//go:embed guides/*.md reference/*.md
var sourceFiles embed.FS

//go:embed templates/*.html
var templateFiles embed.FS

// templates is parsed when it is first used: most commands do not show documentation.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").ParseFS(templateFiles, "templates/*.html"))
})

// A Site is all pages, rendered.
type Site struct {
	pages  map[string]*Page
	groups []Group
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
	Site     []Group       `json:"-"`
}

// A Link leads to a page.
type Link struct {
	Path  string `json:"path"`
	Title string `json:"title"`
}

// A Group is a part of the documentation, such as the guides.
type Group struct {
	Title string `json:"title"`
	Links []Link `json:"links"`
}

// ID is the anchor of the group on the first page.
func (g Group) ID() string { return slug(g.Title) }

// A Heading is an h2 or h3 of a page; ID is its anchor.
type Heading struct {
	Level int    `json:"level"`
	ID    string `json:"id"`
	Text  string `json:"text"`
}

// New renders the documentation of the service at url.
func New(url string) (*Site, error) {
	groups, err := sources()
	if err != nil {
		return nil, err
	}
	s := &Site{pages: map[string]*Page{}}
	var order []*Page
	for n, documents := range groups {
		order = append(order, s.add(sections[n].title, documents)...)
	}
	if err := s.addLists(); err != nil {
		return nil, err
	}
	s.finish(order, strings.TrimSuffix(url, "/"))
	return s, nil
}

// Page returns the page at path, or nil.
func (s *Site) Page(path string) *Page { return s.pages[path] }

// Pages returns the paths of all pages, in reading order.
func (s *Site) Pages() (paths []string) {
	paths = append(paths, Root, All)
	for _, g := range s.groups {
		for _, l := range g.Links {
			paths = append(paths, l.Path)
		}
	}
	return paths
}

// Groups returns the groups of pages, for templates.
func (s *Site) Groups() []Group { return s.groups }

// sources returns the documents of each section, rendered once with the placeholder.
var sources = sync.OnceValues(func() (groups [][]document, err error) {
	for _, section := range sections {
		var group []document
		for _, name := range section.names {
			file := section.directory + "/" + name + ".md"
			source, err := sourceFiles.ReadFile(file)
			if err != nil {
				return nil, err
			}
			d, err := renderDocument(source)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			d.path = Root + "/" + name
			group = append(group, d)
		}
		groups = append(groups, group)
	}
	return groups, nil
})

// add adds a group, and returns its pages.
func (s *Site) add(title string, documents []document) (pages []*Page) {
	g := Group{Title: title}
	for _, d := range documents {
		p := &Page{Path: d.path, Title: d.title, Summary: d.summary, Body: d.body, Contents: d.headings}
		s.pages[p.Path] = p
		g.Links = append(g.Links, Link{p.Path, p.Title})
		pages = append(pages, p)
	}
	s.groups = append(s.groups, g)
	return pages
}

// addLists adds the pages that list the others: the first one, and the one with every
// heading, which is for those who cannot search because they run no scripts.
func (s *Site) addLists() error {
	for _, list := range []struct{ path, title, summary, template string }{
		{Root, "Documentation", "Guides, and the reference of the HTTP API.", "root.html"},
		{All, "All headings", "Every section of the documentation.", "all.html"},
	} {
		page := &Page{Path: list.path, Title: list.title, Summary: list.summary}
		for _, g := range s.groups {
			page.Contents = append(page.Contents, Heading{2, g.ID(), g.Title})
		}
		var body bytes.Buffer
		if err := templates().ExecuteTemplate(&body, list.template, s); err != nil {
			return err
		}
		page.Body = template.HTML(body.String()) //nolint:gosec // written by html/template
		s.pages[page.Path] = page
	}
	return nil
}

// finish gives each page its neighbours and the service's URL.
func (s *Site) finish(order []*Page, url string) {
	for n, p := range order {
		if n > 0 {
			p.Previous = &Link{order[n-1].Path, order[n-1].Title}
		}
		if n+1 < len(order) {
			p.Next = &Link{order[n+1].Path, order[n+1].Title}
		}
	}
	for _, p := range s.pages {
		p.Site = s.groups
		escaped := template.HTMLEscapeString(url)
		p.Body = template.HTML(strings.ReplaceAll(string(p.Body), placeholder, escaped)) //nolint:gosec // the URL is escaped
	}
}

var notInSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug returns a text as an anchor.
func slug(text string) string {
	return strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
}
