package dashboard

import (
	"encoding/json"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

func usagePreviews() []preview {
	page := func(data *usageView) frame { return frame{Path: "/dashboard/usage", User: owner, Data: data} }
	wrong := page(&usageView{First: "2026-11-30", Last: "2026-11-01"})
	wrong.Problem = refused("The first day is after the last one.")
	return []preview{
		{"usage", "many", page(someUsage())},
		{"usage", "empty", page(&usageView{First: "2026-11-01", Last: "2026-11-22"})},
		{"usage", "refused", wrong},
	}
}

func someUsage() *usageView {
	view := &usageView{First: "2026-11-01", Last: "2026-11-22", Keys: []usageKeyView{{7, "shop", "active"}, {3, "<b>old</b>", "revoked"}}, Count: 120, Next: "/dashboard/usage", CSV: "/dashboard/usage.csv"}
	for i := range usagePageRows {
		n := int64(1000 * (i%7 + 1))
		view.Rows = append(view.Rows, usageRowView{ago(i / 2).Format(time.DateOnly), view.Keys[i%2], numbersOf(ledger.Tally{Points: 2 * n, Requests: n, Errors: n / 90,
			Found: ledger.Found{Valid: n * 9 / 10, Invalid: n / 10, Disposable: n / 30, Public: n / 2, Role: n / 20, Typo: n / 50}})})
	}
	view.Total = numbersOf(ledger.Tally{Points: 8_120_400, Requests: 4_060_200, Errors: 45_113})
	return view
}

func tryPreviews() []preview {
	page := func(data *tryView, emails ...string) frame {
		return frame{Path: "/dashboard/try", User: owner, Data: data, Form: map[string][]string{"emails": emails}}
	}
	plain := func() *tryView { return &tryView{Points: somePoints(812_345, 1_000_000, false), Max: maxPasted} }
	one, several, empty := plain(), plain(), page(plain())
	one.Checked, one.Charged = []checkedView{typo()}, "It cost 1 point."
	one.JSON, one.Curl = "{\n  \"email\": \"jane.doe+news@hotmial.com\",\n  \"valid\": true\n}", exampleCurl("https://addrspec.example")
	several.Checked, several.Charged, several.JSON, several.Curl = []checkedView{typo(), typo(), typo()}, "It cost 3 points.", one.JSON, one.Curl
	empty.Problem = refused("Give at least one address.")
	return []preview{
		{"try", "plain", page(plain())},
		{"try", "one", page(one, "jane.doe+news@hotmial.com")},
		{"try", "several", page(several, "jane.doe+news@hotmial.com", "info@shop.example")},
		{"try", "refused", empty},
	}
}

// typo is a result with a suggestion, in words.
func typo() checkedView {
	raw := json.RawMessage(`{"email":"jane.doe+news@hotmial.com","valid":true,"normalized":"jane.doe@hotmial.com","domain":"hotmial.com","typo_suggestion":"hotmail.com","mx":true,"disposable":false}`)
	view, err := viewOfResult(raw)
	if err != nil {
		panic(err)
	}
	return view
}
