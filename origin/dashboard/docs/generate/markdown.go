package main

import (
	"embed"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
)

// markdown renders CommonMark with tables. Cells have no style attribute, which the
// Content-Security-Policy would refuse. Raw HTML is left out (goldmark's default).
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
)

//go:embed templates/*.html
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"slug": slug}).
	ParseFS(templateFiles, "templates/*.html"))

var notInSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slug(text string) string {
	return strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
}

// anchor returns the ID of a heading, which the parser sets.
func anchor(h *ast.Heading) string {
	id, _ := h.AttributeString("id")
	return string(id.([]byte))
}

// plainText returns the text of a node without its markup, on one line.
func plainText(node ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		if n.Type() == ast.TypeBlock {
			b.WriteByte(' ') // between items of a list
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// blocks renders headings with a link to themselves, tables that scroll on a narrow
// screen, and blocks of code, of which some are files.
type blocks struct{}

// RegisterFuncs is called by goldmark.
func (blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, renderHeading)
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(tables.KindTable, renderTable)
}

func renderHeading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	h := node.(*ast.Heading)
	if entering {
		fmt.Fprintf(w, "<h%d id=\"%s\">", h.Level, anchor(h))
		return ast.WalkContinue, nil
	}
	fmt.Fprintf(w, " <a class=\"anchor\" href=\"#%s\" aria-label=\"Link to this section\">#</a></h%d>\n",
		anchor(h), h.Level)
	return ast.WalkContinue, nil
}

// renderTable names a table after the heading before it and its columns.
func renderTable(w util.BufWriter, source []byte, table ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, err := w.WriteString("</table></div>\n")
		return ast.WalkContinue, err
	}
	heading, before := "Table", table.PreviousSibling()
	for before != nil && before.Kind() != ast.KindHeading {
		before = before.PreviousSibling()
	}
	if before != nil {
		heading = plainText(before, source)
	}
	var titles []string
	for cell := table.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
		titles = append(titles, plainText(cell, source))
	}
	label := template.HTMLEscapeString(heading + ": " + strings.Join(titles, ", "))
	fmt.Fprintf(w, "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>\n", label)
	return ast.WalkContinue, nil
}

func renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := node.(*ast.FencedCodeBlock)
	info := "" // what follows ``` on the first line
	if block.Info != nil {
		info = string(block.Info.Segment.Value(source))
	}
	word, name, _ := strings.Cut(info, " ")
	code := string(block.Lines().Value(source))
	switch word {
	case "examples":
		examples, err := docs.Examples(name)
		if err != nil {
			return ast.WalkStop, err
		}
		return ast.WalkSkipChildren, templates.ExecuteTemplate(w, "examples.html", examples)
	case "moved":
		var sections []docs.Link
		for _, title := range strings.Split(strings.TrimSpace(code), "\n") {
			sections = append(sections, docs.Link{Path: docs.Root + "/" + name + "#" + slug(title), Title: title})
		}
		return ast.WalkSkipChildren, templates.ExecuteTemplate(w, "moved.html", sections)
	}
	return ast.WalkSkipChildren, templates.ExecuteTemplate(w, "code.html", code)
}

// An entry is what a search can find: a section, or a row of a table that begins with a
// name, such as a field, a header or a status. Programs are left out: they repeat what
// the text has.
type entry struct{ id, title, text string }

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
