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
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
)

// sections has the parts of the documentation, with their pages in reading order:
// DIRECTORY/NAME.md is the page /docs/NAME.
var sections = []struct {
	title, directory string
	names            []string
}{
	{"Guides", "guides", []string{"start", "errors", "retries", "lists", "policies", "browser", "assistants",
		"testing", "webhooks", "plans"}},
	{"Reference", "reference", []string{"api", "check-email", "check-emails", "get-usage", "result", "details"}},
}

func main() {
	text, err := render(".") // go generate runs commands in the directory of the package
	if err == nil {
		err = os.WriteFile("site.json", text, 0o644)
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
				index.Entries = append(index.Entries, [4]any{len(index.Pages), e.id, e.title, e.text})
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
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err == nil {
		err = encoder.Encode(site)
	}
	// A page has a line, so that a change of a page is a change of a line.
	begin := []byte(`{"path":"` + docs.Root)
	return bytes.ReplaceAll(text.Bytes(), begin, append([]byte("\n"), begin...)), err
}

// policyInGuide matches a policy of the guide's section "Policies to begin with".
var policyInGuide = regexp.MustCompile("(?m)^### (.+)\n[^`]*```json\n([^`]+)\n```")

//go:embed templates/*.html
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"slug": slug}).
	ParseFS(templateFiles, "templates/*.html"))

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

var notInSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug returns a text as an anchor.
func slug(text string) string {
	return strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
}
