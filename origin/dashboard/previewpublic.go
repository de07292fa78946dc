package dashboard

import (
	"encoding/json"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
)

// publicPreviews has the front door, and the frame of the documentation, whose own
// pages are made from the API's description and tested with it.
func publicPreviews() []preview {
	front := frontView{exampleAddress, json.RawMessage(frontExample), "https://addrspec.example/v1/email/" + exampleAddress, repository}
	page := docsView{&docs.Page{Path: docs.Root, Title: "Documentation", Summary: "Guides, and the reference of the HTTP API.", Body: "<p>The text of a page.</p>"}}
	return []preview{
		{"front", "plain", frame{Path: "/", Data: front}},
		{"front", "signed-in", frame{Path: "/", User: owner, Data: front}},
		{"docs", "frame", frame{Path: docs.Root, Title: page.Title, Data: page}},
	}
}
