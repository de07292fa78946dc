package docs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
)

// An entry is what a search can find: a section, or a row of a table that begins with a
// name, such as a field, a header or a status. Programs are left out: they repeat what
// the text has.
type entry struct{ id, title, text string }

// Index returns all entries as JSON, for the search box:
//
//	{"pages": [["/docs/start", "Get started"], ...], "entries": [[0, "send-the-key", "Send the key", "Send the ..."], ...]}
//
// An entry has the number of its page, its anchor, its title and its text. The anchor of
// a row is HEADING.NAME, and the row comes after the section that it belongs to.
var Index = sync.OnceValues(func() ([]byte, error) {
	var index struct {
		Pages   [][2]string `json:"pages"`
		Entries [][4]any    `json:"entries"`
	}
	groups, err := sources()
	if err != nil {
		return nil, err
	}
	for _, group := range groups {
		for _, d := range group {
			for _, e := range d.entries {
				index.Entries = append(index.Entries, [4]any{len(index.Pages), e.id, e.title, e.text})
			}
			index.Pages = append(index.Pages, [2]string{d.path, d.title})
		}
	}
	return json.Marshal(index)
})

// A collector collects the entries of a document.
type collector struct {
	source  []byte
	list    []entry
	section int            // in list
	rows    map[string]int // by anchor
}

// entriesOf returns the entries of a document, and gives rows with names an anchor.
func entriesOf(root ast.Node, source []byte, d document) []entry {
	c := collector{source: source, list: []entry{{"", d.title, d.summary}}, rows: map[string]int{}}
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
