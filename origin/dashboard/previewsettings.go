package dashboard

func settingsPreviews() []preview {
	const path = "/dashboard/settings"
	sessions := []sessionView{
		{ID: 1, Client: "Firefox on Linux", Created: ago(3), Seen: previewTime, Current: true},
		{ID: 2, Client: "Safari on iPhone", Created: ago(20), Seen: ago(1)},
		{ID: 3, Client: "an unknown program", Created: ago(29), Seen: ago(28)},
	}
	full := settingsView{Email: owner.Email, Name: owner.Name, HasPassword: true, Sessions: sessions}
	list := []preview{
		{"settings", "three-browsers", frame{Path: path, User: owner, Data: full}},
		{"settings", "first-day", frame{Path: path, User: newcomer, Data: settingsView{Email: newcomer.Email, Sessions: sessions[:1]}}},
		{"settings", "name-changed", frame{Path: path, User: owner, Done: messages["name-set"], Data: full}},
		{"settings", "name-refused", frame{Path: path, User: owner, Problem: refused("The name must have at most 100 visible characters."), Data: full}},
	}
	secured, without := full, full
	secured.TOTP, secured.Recovery, secured.OpenID = true, 7, "Example Login"
	secured.Identities = []linkedItem{{"https://login.example", "8f14e45f-ceea-467f-9d1c", ago(9)}}
	secured.Passkeys = []passkeyItem{{ID: "1", Name: "phone", Created: ago(40), Used: ago(1)}, {ID: "2", Name: "laptop", Created: ago(2)}}
	without.NoPasskeys = "Passkeys need HTTPS or localhost; --public-url is http://192.0.2.1."
	list = append(list, preview{"settings", "every-factor", frame{Path: path, User: owner, Data: secured}},
		preview{"settings", "no-passkeys", frame{Path: path, User: owner, Data: without}})
	return append(list, webhookPreviews()...)
}

func webhookPreviews() []preview {
	const path = "/dashboard/settings/webhook"
	page := func(data webhookView) frame { return frame{Path: path, User: owner, Data: data} }
	set := webhookView{URL: "https://hooks.shop.example/addrspec", Created: ago(30), Messages: []deliveryView{
		{ID: "msg_preview3", Percent: 100, Created: previewTime, Attempts: 2, Next: previewTime, Status: "waits for its third attempt: the receiver answered 503"},
		{ID: "msg_preview2", Percent: 80, Created: ago(4), Attempts: 1, Delivered: true, Status: "delivered"},
		{ID: "msg_preview1", Created: ago(30), Attempts: 1, Delivered: true, Status: "delivered"},
	}}
	fresh, tested, disabled, wrong := set, set, set, page(webhookView{})
	fresh.Secret, fresh.Messages = "whsec_previewpreviewpreviewpreviewpreview", nil
	tested.Test = &set.Messages[2]
	disabled.Disabled = ago(1)
	wrong.Problem, wrong.Form = refused("The URL must begin with https://."), map[string][]string{"url": {"http://hooks.shop.example"}}
	return []preview{
		{"webhook", "set", page(set)},
		{"webhook", "none", page(webhookView{})},
		{"webhook", "new-secret", page(fresh)},
		{"webhook", "tested", page(tested)},
		{"webhook", "disabled", page(disabled)},
		{"webhook", "refused", wrong},
	}
}
