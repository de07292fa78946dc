package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders CommonMark with tables. Cells have no style attribute, which the
// Content-Security-Policy would refuse. Raw HTML is left out (goldmark's default).
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
	)
})

// A document is a rendered Markdown file. The title, its only h1, is not part of
// the body.
type document struct {
	path, title, summary string
	body                 template.HTML
	headings             []Heading
	entries              []entry
}

// renderDocument renders a page. Its first paragraph is its summary.
func renderDocument(source []byte) (d document, err error) {
	root := markdown().Parser().Parse(text.NewReader(source))
	title, ok := root.FirstChild().(*ast.Heading)
	if !ok || title.Level != 1 {
		return d, fmt.Errorf("the first line is not the title")
	}
	d.title = plainText(title, source)
	if summary, ok := title.NextSibling().(*ast.Paragraph); ok {
		d.summary = plainText(summary, source)
		root.RemoveChild(root, summary)
	}
	root.RemoveChild(root, title)
	d.headings, d.entries = headings(root, source), entriesOf(root, source, d)
	var body bytes.Buffer
	err = markdown().Renderer().Render(&body, source, root)
	d.body = template.HTML(body.String()) //nolint:gosec // goldmark omits raw HTML
	return d, err
}

// headings returns the headings of a document down to h3.
func headings(root ast.Node, source []byte) (list []Heading) {
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 3 {
			id, _ := h.AttributeString("id")
			list = append(list, Heading{h.Level, string(id.([]byte)), plainText(h, source)})
		}
	}
	return list
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
	id, _ := h.AttributeString("id")
	if entering {
		fmt.Fprintf(w, "<h%d id=\"%s\">", h.Level, id)
	} else {
		fmt.Fprintf(w, " <a class=\"anchor\" href=\"#%s\" aria-label=\"Link to this section\">#</a></h%d>\n", id, h.Level)
	}
	return ast.WalkContinue, nil
}

func renderTable(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		label := template.HTMLEscapeString(tableName(node, source))
		fmt.Fprintf(w, "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>\n", label)
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// tableName returns what names a table: the heading before it and its columns.
func tableName(table ast.Node, source []byte) string {
	heading := "Table"
	for n := table.PreviousSibling(); n != nil; n = n.PreviousSibling() {
		if n.Kind() == ast.KindHeading {
			heading = plainText(n, source)
			break
		}
	}
	var titles []string
	for cell := table.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
		titles = append(titles, plainText(cell, source))
	}
	return heading + ": " + strings.Join(titles, ", ")
}

func renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := node.(*ast.FencedCodeBlock)
	word, name, _ := strings.Cut(infoOf(block, source), " ")
	switch word {
	case "examples":
		examples, err := Examples(name)
		if err != nil {
			return ast.WalkStop, err
		}
		return ast.WalkSkipChildren, templates().ExecuteTemplate(w, "examples.html", examples)
	case "moved":
		return ast.WalkSkipChildren, templates().ExecuteTemplate(w, "moved.html", movedTo(name, linesOf(block, source)))
	}
	return ast.WalkSkipChildren, templates().ExecuteTemplate(w, "code.html", linesOf(block, source))
}

// infoOf returns what follows ``` on the first line of a block.
func infoOf(block *ast.FencedCodeBlock, source []byte) string {
	if block.Info == nil {
		return ""
	}
	return string(block.Info.Segment.Value(source))
}

func linesOf(block *ast.FencedCodeBlock, source []byte) string {
	var code strings.Builder
	for n := range block.Lines().Len() {
		line := block.Lines().At(n)
		code.Write(line.Value(source))
	}
	return code.String()
}

// A movedSection is a section that a page had, and where it is.
type movedSection struct{ ID, Path, Title string }

func movedTo(page, titles string) (list []movedSection) {
	for _, title := range strings.Split(strings.TrimSpace(titles), "\n") {
		list = append(list, movedSection{slug(title), Root + "/" + page + "#" + slug(title), title})
	}
	return list
}
