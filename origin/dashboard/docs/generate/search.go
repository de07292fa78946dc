package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
)

// An entry is what a search can find: a section, or a row of a table that begins with a
// name, such as a field, a header or a status. Programs are left out: they repeat what
// the text has.
type entry struct{ id, title, text string }

// An index is what docs.Site.Index has as JSON.
type index struct {
	Pages   [][2]string `json:"pages"`
	Entries [][4]any    `json:"entries"`
}

func (i *index) add(p *docs.Page, entries []entry) {
	for _, e := range entries {
		i.Entries = append(i.Entries, [4]any{len(i.Pages), e.id, e.title, e.text})
	}
	i.Pages = append(i.Pages, [2]string{p.Path, p.Title})
}

// A collector collects the entries of a document.
type collector struct {
	source  []byte
	list    []entry
	section int            // in list
	rows    map[string]int // by anchor
}

// entriesOf returns the entries of a document, and gives rows with names an anchor.
func entriesOf(root ast.Node, source []byte, p *docs.Page) []entry {
	c := collector{source: source, list: []entry{{"", p.Title, p.Summary}}, rows: map[string]int{}}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			c.section = len(c.list)
			c.list = append(c.list, entry{string(id.([]byte)), plainText(n, source), ""})
		case *tables.Table:
			c.addTable(n)
		case *ast.FencedCodeBlock:
		default:
			c.addText(plainText(n, source))
		}
	}
	return c.list
}

func (c *collector) addText(text string) {
	in := &c.list[c.section]
	in.text = strings.TrimSpace(in.text + " " + text)
}

// addTable adds rows with names as entries, and others to the text of the section.
func (c *collector) addTable(table *tables.Table) {
	for row := table.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, plainText(cell, c.source))
		}
		name, ok := row.FirstChild().FirstChild().(*ast.CodeSpan)
		if !ok {
			c.addText(strings.Join(cells, " · "))
			continue
		}
		id := c.rowID(plainText(name, c.source))
		row.SetAttributeString("id", []byte(id))
		c.list = append(c.list, entry{id, cells[0], strings.Join(cells[1:], " · ")})
	}
}

var notInRowID = regexp.MustCompile(`[^a-z0-9_.-]+`)

// rowID returns an anchor that no heading has, since those have no dot.
func (c *collector) rowID(name string) string {
	id := c.list[c.section].id + "." + strings.Trim(notInRowID.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if c.rows[id]++; c.rows[id] > 1 {
		id += fmt.Sprintf(".%d", c.rows[id])
	}
	return id
}
