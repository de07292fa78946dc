package dashboard

import "github.com/addrspec/addrspec/origin/ledger"

func operatorPreviews() []preview {
	const path, one = "/dashboard/operator", "/dashboard/operator/accounts/1"
	page := func(path string, data any) frame { return frame{Path: path, User: theOperator, Data: data} }
	linked, suspended, refusedAccount := someAccount(), someAccount(), page(path, someAccounts())
	linked.Link = "https://addrspec.example/link/previewpreviewpreviewpreview"
	suspended.Account = someAccounts().Accounts[2] // has a long email
	suspended.Account.Suspended = ago(1)
	suspended.Keys, suspended.Log = []keyView{}, []auditView{}
	refusedAccount.Problem, refusedAccount.Form = refused("An account for owner@shop.example exists already."), map[string][]string{"email": {"owner@shop.example"}}
	refusedPlan := page(path+"/plans", plansView{somePlans()})
	refusedPlan.Problem, refusedPlan.Form = refused("Give both rate and points: a number, or unlimited."), map[string][]string{"name": {"team"}, "points": {"5000"}}
	return []preview{
		{"operator-accounts", "many", page(path, someAccounts())},
		{"operator-accounts", "nothing-found", page(path, accountsView{Search: "nobody", Plans: []string{"free", "pro"}})},
		{"operator-accounts", "refused", refusedAccount},
		{"operator-account", "active", page(one, someAccount())},
		{"operator-account", "suspended", page(one, suspended)},
		{"operator-account", "link", page(one, linked)},
		{"operator-plans", "three", page(path+"/plans", plansView{somePlans()})},
		{"operator-plans", "refused", refusedPlan},
		{"operator-health", "good", page(path+"/health", healthView{someHealth()[:3]})},
		{"operator-health", "broken", page(path+"/health", healthView{someHealth()})},
	}
}

func someAccounts() accountsView {
	return accountsView{Next: 4, Plans: []string{"free", "pro", "team"}, Accounts: []accountView{
		{ID: 1, Email: owner.Email, Plan: "pro", Rate: 50, Points: 1_000_000, Overage: true, Used: 812_345, Created: ago(400)},
		{ID: 2, Email: theOperator.Email, Plan: "team", Rate: ledger.Unlimited, Points: ledger.Unlimited, Created: ago(500)},
		{ID: 3, Email: "a.mailbox.with.a.local.part.of.exactly.sixty.four.characters.....@a-long-domain.example", Plan: "free", Rate: 2, Points: 1000, Used: 1000, Created: ago(1)},
		{ID: 4, Email: "former@shop.example", Plan: "free", Rate: 2, Points: 1000, Created: ago(90), Suspended: ago(2)},
	}}
}

func someAccount() operatorAccountView {
	return operatorAccountView{Account: someAccounts().Accounts[0], Own: ownTerms{Points: "1000000", Overage: "yes"}, Plans: []string{"free", "pro", "team"},
		Keys: someKeys(), UnderWay: 3, Log: []auditView{
			{ago(1), "owner", "rotate key", "shop"},
			{ago(2), "operator", "change account", "plan pro, points 1000000"},
			{ago(90), "shell", "create key", "shop"},
		}}
}

func somePlans() []ledger.Plan {
	return []ledger.Plan{
		{Name: "free", Rate: 2, Points: 1000, Stored: ledger.DefaultStored},
		{Name: "pro", Rate: 50, Points: 1_000_000, Overage: true, Stored: ledger.DefaultStored},
		{Name: "team", Rate: ledger.Unlimited, Points: ledger.Unlimited, Stored: 4 * ledger.DefaultStored},
	}
}

func someHealth() []Health {
	return []Health{
		{"database", true, "SQLite, 12 accounts"},
		{"lists", true, "packed 3 days ago"},
		{"module", true, "version 1.4"},
		{"resolver", false, "no answer from 192.0.2.53 within 2 s: give other resolvers with --dns, or see their logs"},
	}
}
