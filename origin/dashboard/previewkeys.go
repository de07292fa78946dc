package dashboard

import (
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

func keysPreviews() []preview {
	const path, one = "/dashboard/keys", "/dashboard/keys/7"
	keys := func(data keysView) frame { return frame{Path: path, User: owner, Data: data} }
	refusedForm := keys(keysView{Keys: someKeys()})
	refusedForm.Problem, refusedForm.Form = refused("The name of a key must have 1 to 64 visible characters."),
		map[string][]string{"name": {"shop"}, "budget": {"5000"}, "rate": {"many"}, "expires": {"2027-01-01"}}
	changed := frame{Path: one, User: owner, Done: messages["key-changed"], Data: keyPage{Key: busyKey()}}
	return []preview{
		{"keys", "many", keys(keysView{Keys: someKeys(), Next: 12})},
		{"keys", "full", keys(keysView{Keys: fullPageOfKeys(), Next: 50})},
		{"keys", "empty", keys(keysView{Keys: []keyView{}})},
		{"keys", "nothing-found", keys(keysView{Keys: []keyView{}, Search: "warehouse"})},
		{"keys", "new-secret", keys(keysView{Keys: someKeys(), New: newSecret(time.Time{})})},
		{"keys", "refused", refusedForm},
		{"key", "limits", frame{Path: one, User: owner, Data: keyPage{Key: busyKey()}}},
		{"key", "unused", frame{Path: one, User: owner, Data: keyPage{Key: keyView{ID: 8, Name: "sign-up form", Begins: "ask_9Tg2", Status: "active", Created: previewTime, Days: someBars(0)}}}},
		{"key", "changed", changed},
		{"key", "rotated", frame{Path: one, User: owner, Data: keyPage{Key: busyKey(), New: newSecret(previewTime.AddDate(0, 0, 1))}}},
		{"key", "revoked", frame{Path: one, User: owner, Data: keyPage{Key: revokedKey()}}},
		{"key-revoke", "used", frame{Path: one + "/revoke", User: owner, Data: keyPage{Key: busyKey()}}},
		{"key-revoke", "unused", frame{Path: one + "/revoke", User: owner, Data: keyPage{Key: keyView{ID: 8, Name: "sign-up form", Begins: "ask_9Tg2"}}}},
	}
}

// newSecret is a secret that was just made; no account has it.
func newSecret(until time.Time) *newKeyView {
	const secret = "ask_previewpreviewpreviewpreviewpreview012"
	return &newKeyView{ID: 7, Name: "shop", Secret: secret, Until: until,
		Curl: "curl -H 'X-API-Key: " + secret + "' https://addrspec.example/v1/email/jane.doe+news@hotmial.com"}
}

// busyKey has every term.
func busyKey() keyView {
	budget, rate := ledger.Limit(50_000), ledger.Limit(20)
	return keyView{ID: 7, Name: "shop", Begins: "ask_7Qm4", Status: "active", Created: ago(90), LastUsed: previewDay.String(), Expires: previewTime.AddDate(0, 2, 0),
		Until: previewTime.AddDate(0, 0, 1), Budget: &budget, Used: 31_204, Rate: &rate, Days: someBars(4_000),
		Origins: []string{"https://shop.example", "https://www.shop.example"}}
}

func revokedKey() keyView {
	return keyView{ID: 3, Name: "<b>old</b> \u00e9t\u00e9", Begins: "ask_3Kd8", Status: "revoked", Created: ago(300), LastUsed: ago(12).Format(time.DateOnly), Revoked: ago(11), Days: someBars(40)}
}

// someKeys are keys of every kind: with long names, names with markup, unused,
// expired and revoked.
func someKeys() []keyView {
	list := []keyView{busyKey(), revokedKey(),
		{ID: 6, Name: "a key whose name has all sixty-four characters that are allowed.", Begins: "ask_5Ww1", Status: "active", Created: ago(2), Days: someBars(0)},
		{ID: 5, Name: "trial", Begins: "ask_8Hn3", Status: "expired", Created: ago(60), LastUsed: ago(31).Format(time.DateOnly), Expires: ago(30), Days: someBars(0)},
	}
	for i := range 6 {
		list = append(list, keyView{ID: int64(10 + i), Name: fmt.Sprintf("warehouse %d", i+1), Begins: fmt.Sprintf("ask_%dRt6", i), Status: "active", Created: ago(200 - i),
			LastUsed: ago(i).Format(time.DateOnly), Days: someBars(int64(100 * (i + 1)))})
	}
	return list
}

// fullPageOfKeys are as many keys as a page lists, all used every day.
func fullPageOfKeys() (list []keyView) {
	for i := range keysOnPage {
		k := busyKey()
		k.ID, k.Name = int64(100-i), fmt.Sprintf("a key of the department number %d", i+1)
		k.Days = someBars(1_000_000)
		list = append(list, k)
	}
	return list
}

// someBars are 30 days with up to most requests each.
func someBars(most int64) []barView {
	var days []ledger.KeyDay
	for i := range int64(barDays) {
		if n := most * ((i*7)%11 + i/3) / 20; n > 0 {
			days = append(days, ledger.KeyDay{Key: 7, Day: previewDay - ledger.Day(i), Requests: n, Points: 2 * n})
		}
	}
	return bars(7, days, previewDay)
}
