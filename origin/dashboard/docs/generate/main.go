// Program generate renders guides/ and reference/ to site.json. Run it by
//
//	go generate ./origin/dashboard/docs
//
// Code in the pages is not typed into them. A block such as
//
//	```examples check-email
//	```
//
// shows the programs in examples/check-email, and tests of the command run these
// files against a service.
//
// Where sections move to another page, their old page has a block with their titles,
//
//	```moved PAGE
//	Title
//	```
//
// which keeps their anchors: links that lead on.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
)

// sections has the parts of the documentation, with their pages in reading order:
// DIRECTORY/NAME.md is the page /docs/NAME.
var sections = []struct {
	title, directory string
	names            []string
}{
	{"Guides", "guides", []string{"start", "errors", "retries", "lists", "policies", "accounts", "browser", "packages",
		"forms", "assistants", "testing", "webhooks", "plans", "privacy", "nofakemails"}},
	{"Reference", "reference", []string{"api", "check-email", "check-emails", "get-usage", "result", "details", "refusals"}},
}

func main() {
	site, err := render(".") // go generate runs commands in the directory of the package
	if err == nil {
		err = os.WriteFile("site.json", site, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// render returns site.json for the Markdown files below a directory.
func render(directory string) ([]byte, error) {
	site := &docs.Site{}
	var index index
	for _, section := range sections {
		group := docs.Group{ID: slug(section.title), Title: section.title}
		for _, name := range section.names {
			file := filepath.Join(directory, section.directory, name+".md")
			source, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			page := &docs.Page{Path: docs.Root + "/" + name}
			entries, err := renderPage(page, source)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			for _, e := range entries {
				index.Entries = append(index.Entries, []any{len(index.Pages), e.id, e.title, e.text, e.names()})
			}
			index.Pages = append(index.Pages, [2]string{page.Path, page.Title})
			if n := len(site.Pages); n > 0 {
				last := site.Pages[n-1]
				last.Next = &docs.Link{Path: page.Path, Title: page.Title}
				page.Previous = &docs.Link{Path: last.Path, Title: last.Title}
			}
			site.Pages = append(site.Pages, page)
			group.Links = append(group.Links, docs.Link{Path: page.Path, Title: page.Title})
		}
		site.Groups = append(site.Groups, group)
	}
	guide, err := os.ReadFile(filepath.Join(directory, "guides/policies.md"))
	for _, found := range policyInGuide.FindAllSubmatch(guide, -1) {
		site.Policies = append(site.Policies, docs.Policy{Name: string(found[1]), Document: string(found[2])})
	}
	if err == nil {
		err = addLists(site)
	}
	if err == nil {
		site.Index, err = json.Marshal(index)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err == nil {
		err = encoder.Encode(site)
	}
	// A page has a line, so that a change of a page is a change of a line.
	begin := []byte(`{"path":"` + docs.Root)
	return bytes.ReplaceAll(out.Bytes(), begin, append([]byte("\n"), begin...)), err
}

// policyInGuide matches a policy of the guide's section "Policies to begin with".
var policyInGuide = regexp.MustCompile("(?m)^### (.+)\n[^`]*```json\n([^`]+)\n```")

// renderPage fills a page from its Markdown, and returns what a search can find in it. The
// title, the page's only h1, is no part of the body. The first paragraph is the summary.
func renderPage(p *docs.Page, source []byte) ([]entry, error) {
	root := markdown.Parser().Parse(text.NewReader(source))
	title, ok := root.FirstChild().(*ast.Heading)
	if !ok || title.Level != 1 {
		return nil, errors.New("the first line is not the title")
	}
	p.Title = plainText(title, source)
	if summary, ok := title.NextSibling().(*ast.Paragraph); ok {
		p.Summary = plainText(summary, source)
		root.RemoveChild(root, summary)
	}
	root.RemoveChild(root, title)
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 3 {
			p.Contents = append(p.Contents, docs.Heading{Level: h.Level, ID: anchor(h), Text: plainText(h, source)})
		}
	}
	entries := entriesOf(root, source, p)
	err := asMarkdown(p, source)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	err = markdown.Renderer().Render(&body, source, root)
	p.Body = template.HTML(body.String()) //nolint:gosec // goldmark omits raw HTML
	return entries, err
}

var (
	// ownBlock matches a block that only this program knows.
	ownBlock = regexp.MustCompile("(?ms)^```(examples|moved) ([a-z-]+)\n(.*?)^```\n")
	ownLink  = regexp.MustCompile(`\]\((/[^)#]*)(#[^)]*)?\)`)
)

// asMarkdown sets the page's Markdown: with the examples in place of their blocks, and links that work
// elsewhere too and lead from Markdown to Markdown.
func asMarkdown(p *docs.Page, source []byte) (err error) {
	p.Markdown = ownBlock.ReplaceAllStringFunc(string(source), func(block string) string {
		found := ownBlock.FindStringSubmatch(block)
		var b strings.Builder
		if found[1] == "moved" {
			for title := range strings.SplitSeq(strings.TrimSpace(found[3]), "\n") {
				fmt.Fprintf(&b, "- [%s](%s/%s#%s)\n", title, docs.Root, found[2], slug(title))
			}
			return b.String()
		}
		examples, missing := docs.Examples(found[2])
		err = errors.Join(err, missing)
		for _, e := range examples {
			ending := strings.TrimPrefix(filepath.Ext(e.File), ".")
			fmt.Fprintf(&b, "%s:\n\n```%s\n%s\n```\n\n", e.Language, ending, strings.TrimSpace(e.Text))
		}
		return strings.TrimSuffix(b.String(), "\n")
	})
	p.Markdown = ownLink.ReplaceAllStringFunc(p.Markdown, func(link string) string {
		found := ownLink.FindStringSubmatch(link)
		path := found[1]
		if strings.HasPrefix(path, docs.Root+"/") && !strings.Contains(path, ".") {
			path += docs.MarkdownEnding
		}
		return "](" + docs.Placeholder + path + found[2] + ")"
	})
	return err
}

// addLists adds the pages that list the others: the first page, and the page with every
// heading, which is for people who cannot search because they run no scripts.
func addLists(site *docs.Site) error {
	for _, list := range []struct{ path, title, summary, template string }{
		{docs.Root, "Documentation", "Guides, and the reference of the HTTP API.", "root.html"},
		{docs.All, "All headings", "Every section of the documentation.", "all.html"},
	} {
		page := &docs.Page{Path: list.path, Title: list.title, Summary: list.summary}
		for _, g := range site.Groups {
			page.Contents = append(page.Contents, docs.Heading{Level: 2, ID: g.ID, Text: g.Title})
		}
		var body bytes.Buffer
		if err := templates.ExecuteTemplate(&body, list.template, site); err != nil {
			return err
		}
		page.Body = template.HTML(body.String()) //nolint:gosec // written by html/template
		site.Pages = append(site.Pages, page)
	}
	return nil
}
