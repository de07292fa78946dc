package docs

import (
	"embed"
	"fmt"
)

//go:embed guides/*.md
var guideFiles embed.FS

// guides has the names of the guides in reading order: guides/NAME.md is the page
// /docs/NAME.
var guides = []string{"start", "errors", "retries", "lists", "browser", "webhooks", "plans"}

func readGuides() (pages []*Page, err error) {
	for _, name := range guides {
		source, err := guideFiles.ReadFile("guides/" + name + ".md")
		if err != nil {
			return nil, err
		}
		d, err := renderDocument(source)
		if err != nil {
			return nil, fmt.Errorf("guides/%s.md: %w", name, err)
		}
		pages = append(pages, &Page{Path: Root + "/" + name, Title: d.title, Summary: d.summary, Body: d.body, Contents: d.headings})
	}
	return pages, nil
}
