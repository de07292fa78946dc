package dashboard

func settingsPreviews() []preview {
	const path = "/dashboard/settings"
	sessions := []sessionView{
		{ID: 1, Client: "Firefox on Linux", Created: ago(3), Seen: previewTime, Current: true},
		{ID: 2, Client: "Safari on iPhone", Created: ago(20), Seen: ago(1)},
		{ID: 3, Client: "an unknown program", Created: ago(29), Seen: ago(28)},
	}
	full := settingsView{Email: owner.Email, Name: owner.Name, HasPassword: true, Sessions: sessions}
	return []preview{
		{"settings", "three-browsers", frame{Path: path, User: owner, Data: full}},
		{"settings", "first-day", frame{Path: path, User: newcomer, Data: settingsView{Email: newcomer.Email, Sessions: sessions[:1]}}},
		{"settings", "name-changed", frame{Path: path, User: owner, Done: messages["name-set"], Data: full}},
		{"settings", "name-refused", frame{Path: path, User: owner, Problem: refused("The name must have at most 100 visible characters."), Data: full}},
	}
}
