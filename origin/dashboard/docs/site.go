package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
)

// Root is the path of the first page.
const Root = "/docs"

// placeholder is the service's URL in guides and examples: that of ./build.sh run.
const placeholder = "http://127.0.0.1:8080"

// A Site is all pages, rendered.
type Site struct {
	pages  map[string]*Page
	groups []Group
}

// New renders the documentation of the service at url, whose API the OpenAPI
// document describes.
func New(openAPI []byte, url string) (*Site, error) {
	var d description
	if err := json.Unmarshal(openAPI, &d); err != nil {
		return nil, fmt.Errorf("the OpenAPI description cannot be read: %w", err)
	}
	reference, err := d.pages()
	if err != nil {
		return nil, fmt.Errorf("the OpenAPI description cannot be rendered: %w", err)
	}
	guides, err := readGuides()
	if err != nil {
		return nil, err
	}
	s := &Site{pages: map[string]*Page{}}
	s.add("Guides", guides)
	s.add("Reference", reference)
	if err := s.addRoot(); err != nil {
		return nil, err
	}
	s.finish(append(guides, reference...), strings.TrimSuffix(url, "/"))
	return s, nil
}

// Page returns the page at path, or nil.
func (s *Site) Page(path string) *Page { return s.pages[path] }

// Pages returns the paths of all pages, in reading order.
func (s *Site) Pages() (paths []string) {
	paths = append(paths, Root)
	for _, g := range s.groups {
		for _, l := range g.Links {
			paths = append(paths, l.Path)
		}
	}
	return paths
}

func (s *Site) add(title string, pages []*Page) {
	g := Group{Title: title}
	for _, p := range pages {
		s.pages[p.Path] = p
		g.Links = append(g.Links, Link{p.Path, p.Title})
	}
	s.groups = append(s.groups, g)
}

// addRoot adds the page that lists the others.
func (s *Site) addRoot() error {
	root := &Page{Path: Root, Title: "Documentation", Summary: "Guides, and the reference of the HTTP API."}
	for _, g := range s.groups {
		root.Contents = append(root.Contents, Heading{2, slug(g.Title), g.Title})
	}
	var body bytes.Buffer
	if err := templates().ExecuteTemplate(&body, "root.html", s); err != nil {
		return err
	}
	root.Body = template.HTML(body.String()) //nolint:gosec // written by html/template
	s.pages[Root] = root
	return nil
}

// Groups returns the groups of pages, for templates.
func (s *Site) Groups() []Group { return s.groups }

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
