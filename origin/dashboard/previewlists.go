package dashboard

// listsPreviews has the page as the server sends it; the states of a run exist in
// the browser only, and the story of a list shows them.
func listsPreviews() []preview {
	page := func(points pointsView) frame {
		return frame{Path: "/dashboard/lists", User: owner, Data: listsView{points, maxBatch, "https://addrspec.example/v1/emails"}}
	}
	return []preview{
		{"lists", "plain", page(somePoints(312_000, 1_000_000, false))},
		{"lists", "no-points", page(somePoints(1000, 1000, false))},
	}
}
