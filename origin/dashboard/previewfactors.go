package dashboard

import "github.com/addrspec/addrspec/origin/identity"

func factorPreviews() []preview {
	const settings = "/dashboard/settings"
	secured := &identity.User{Account: 1, Email: owner.Email, Name: owner.Name, HasPassword: true, TOTP: true, Passkeys: 2}
	codes := []string{"k7qm-2tvx-9hzr", "w4ps-8jcn-3lfd", "b6yg-5rka-7mqe", "t2hx-9vwz-4ncs", "p8df-3qlj-6bkr", "h5mt-7xzv-2gwy", "r9ck-4sna-8pfd", "j3vb-6ylq-5tmh", "z7wg-2dxr-9kcs", "n4fp-8hjt-3vqb"}
	const secret = "PREVIEWPREVIEWPREVIEWPREVIEW2345"
	setUp := totpView{Secret: secret, QR: mustQRCode("otpauth://totp/addrspec:owner@shop.example?secret=" + secret + "&issuer=addrspec")}
	removed := passkeyItem{ID: "1", Name: "phone", Created: ago(40)}
	log := auditLogView{Lines: someAccount().Log, Next: 12}
	at := func(path string, user *identity.User, data any) frame {
		return frame{Path: path, User: user, Data: data}
	}
	wrong := func(f frame, sentence string) frame { f.Problem = refused(sentence); return f }
	signUp := wrong(at("/sign-up", nil, signUpView{"free"}), "A password must have at least 10 characters.")
	signUp.Form = map[string][]string{"email": {owner.Email}}
	return []preview{
		{"second-factor", "code", at("/sign-in/code", nil, codeView{To: "/dashboard"})},
		{"second-factor", "code-or-passkey", at("/sign-in/code", nil, codeView{To: "/dashboard", Passkeys: true})},
		{"second-factor", "wrong", wrong(at("/sign-in/code", nil, codeView{To: "/dashboard"}), "The code is wrong, or was used already.")},
		{"totp", "set-up", at(settings+"/totp", owner, setUp)},
		{"totp", "wrong", wrong(at(settings+"/totp", owner, setUp), "The code is wrong. Give the one that the app shows now.")},
		{"totp", "done", at(settings+"/totp", secured, totpView{Recovery: codes})},
		{"totp-remove", "plain", at(settings+"/totp/remove", secured, struct{}{})},
		{"recovery-codes", "seven-left", at(settings+"/recovery-codes", secured, recoveryView{Left: 7})},
		{"recovery-codes", "new", at(settings+"/recovery-codes", secured, recoveryView{Left: 10, Codes: codes})},
		{"recovery-codes", "no-app", at(settings+"/recovery-codes", owner, recoveryView{})},
		{"passkey", "sign-in", at("/sign-in/passkey", nil, passkeyView{To: "/dashboard", Path: "/sign-in/passkey"})},
		{"passkey", "unavailable", at("/sign-in/passkey", nil, passkeyView{To: "/dashboard", Unavailable: "Passkeys need HTTPS or localhost; --public-url is http://192.0.2.1."})},
		{"passkey-add", "plain", at(settings+"/passkeys", owner, passkeyView{})},
		{"passkey-add", "unavailable", at(settings+"/passkeys", owner, passkeyView{Unavailable: "Passkeys need HTTPS or localhost; --public-url is http://192.0.2.1."})},
		{"passkey-remove", "plain", at(settings+"/passkeys/1/remove", secured, removed)},
		{"openid", "link", titled("Link an identity", at(settings+"/identities", owner, openIDView{Name: "Example Login"}))},
		{"openid", "continue", titled("Link an identity", at(settings+"/identities", owner, openIDView{Name: "Example Login", Location: "https://login.example/authorize"}))},
		{"sign-up", "plain", at("/sign-up", nil, signUpView{"free"})},
		{"sign-up", "refused", signUp},
		{"audit", "lines", at(settings+"/log", owner, log)},
		{"audit", "empty", at(settings+"/log", owner, auditLogView{})},
		{"delete", "plain", at(settings+"/delete", owner, deleteView{owner.Email})},
		{"delete", "refused", wrong(at(settings+"/delete", owner, deleteView{owner.Email}), "Type the email of the account to confirm.")},
		{"sign-in", "every-way", at("/sign-in", nil, signInView{To: "/dashboard", Passkeys: true, OpenID: "Example Login"})},
		{"confirm", "every-way", at("/confirm", secured, confirmView{To: settings, Password: true, Code: true, Passkeys: true, OpenID: "Example Login"})},
		{"confirm", "no-way", at("/confirm", newcomer, confirmView{To: settings})},
	}
}

func mustQRCode(text string) *qrCode {
	code, err := newQRCode(text)
	if err != nil {
		panic(err)
	}
	return code
}

// titled gives a page its title where its route exists only with a provider.
func titled(title string, f frame) frame { f.Title = title; return f }
