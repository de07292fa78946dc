package docs

import "html/template"

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

// A Heading is an h2 or h3 of a page; ID is its anchor.
type Heading struct {
	Level int    `json:"level"`
	ID    string `json:"id"`
	Text  string `json:"text"`
}

// ID is the anchor of the group on the first page.
func (g Group) ID() string { return slug(g.Title) }
