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
	Entries [][]any     `json:"entries"`
}

// statuses matches the HTTP statuses that a section of the errors is about.
var statuses = regexp.MustCompile(`^Status (\d+(?:(?:, | or )\d+)*)`)

// names returns what else people call a section, besides its title, separated by line feeds. A query for
// one of them finds the section first.
func (e entry) names() string {
	found := statuses.FindStringSubmatch(e.text)
	if found == nil {
		return ""
	}
	names := strings.NewReplacer(", ", "\n", " or ", "\n").Replace(found[1])
	if names == "429" {
		names += "\nrate limit\nrate limits\nrate limiting"
	}
	return names
}

// entriesOf returns the entries of a document, and gives rows with names an anchor.
func entriesOf(root ast.Node, source []byte, p *docs.Page) []entry {
	list, section := []entry{{"", p.Title, p.Summary}}, 0
	addText := func(text string) { list[section].text = strings.TrimSpace(list[section].text + " " + text) }
	rows := map[string]int{} // by anchor
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			section = len(list)
			list = append(list, entry{anchor(n), plainText(n, source), ""})
		case *tables.Table:
			for row := n.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
				var cells []string
				for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
					cells = append(cells, plainText(cell, source))
				}
				name, ok := row.FirstChild().FirstChild().(*ast.CodeSpan)
				if !ok {
					addText(strings.Join(cells, " · "))
					continue
				}
				// No heading has the anchor, since those have no dot.
				id := strings.Trim(notInRowID.ReplaceAllString(strings.ToLower(plainText(name, source)), "-"), "-")
				id = list[section].id + "." + id
				rows[id]++
				if rows[id] > 1 {
					id += fmt.Sprintf(".%d", rows[id])
				}
				row.SetAttributeString("id", []byte(id))
				list = append(list, entry{id, cells[0], strings.Join(cells[1:], " · ")})
			}
		case *ast.FencedCodeBlock:
		default:
			addText(plainText(n, source))
		}
	}
	return list
}

var notInRowID = regexp.MustCompile(`[^a-z0-9_.-]+`)
