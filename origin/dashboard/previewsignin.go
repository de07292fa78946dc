package dashboard

import "net/http"

func signInPreviews() []preview {
	form := map[string][]string{"email": {"owner@shop.example"}}
	return []preview{
		{"sign-in", "plain", frame{Path: "/sign-in", Data: signInView{To: "/dashboard"}}},
		{"sign-in", "sign-up-open", frame{Path: "/sign-in", SignUp: true, Data: signInView{To: "/dashboard"}}},
		{"sign-in", "wrong", frame{Path: "/sign-in", Form: form, Problem: refused("The email or the password is wrong."), Data: signInView{To: "/dashboard"}}},
		{"sign-in", "too-many", frame{Path: "/sign-in", Form: form, Data: signInView{To: "/dashboard"},
			Problem: refused("Too many attempts; try again in 4 minutes.")}},
		{"sign-in", "signed-out", frame{Path: "/sign-in", Done: messages["signed-out"], Data: signInView{To: "/dashboard"}}},
		{"sign-out", "plain", frame{Path: "/sign-out", User: owner, Data: struct{}{}}},
		{"link", "plain", frame{Path: "/link/0123456789", Data: linkView{Email: owner.Email}}},
		{"password", "first", frame{Path: "/dashboard/settings/password", User: newcomer, Data: struct{}{}}},
		{"password", "change", frame{Path: "/dashboard/settings/password", User: owner, Data: struct{}{}}},
		{"password", "differ", frame{Path: "/dashboard/settings/password", User: owner, Problem: refused("The two passwords differ."), Data: struct{}{}}},
		{"confirm", "plain", frame{Path: "/confirm", User: owner, Data: confirmView{To: "/dashboard/settings", Password: true}}},
		{"confirm", "wrong", frame{Path: "/confirm", User: owner, Problem: refused("The password is wrong."), Data: confirmView{To: "/dashboard/settings", Password: true}}},
	}
}

func problemPreviews() []preview {
	busy := &problem{status: http.StatusServiceUnavailable, code: "BUSY", sentence: "Many people use the dashboard at the moment. Try again in a few seconds."}
	return []preview{
		{"problem", "not-found", frame{Path: "/nothing", Title: "Not Found", Problem: viewOf(errNotFound), Data: struct{}{}}},
		{"problem", "form-token", frame{Path: "/nothing", Title: "Forbidden", User: owner, Problem: viewOf(errFormToken), Data: struct{}{}}},
		{"problem", "busy", frame{Path: "/nothing", Title: "Service Unavailable", Problem: viewOf(busy), Data: struct{}{}}},
	}
}
