// Package person has the pages with which people sign in, and those of their settings: passwords,
// links, authenticator apps, passkeys, identities of OpenID, sessions.
package person

import "github.com/addrspec/addrspec/origin/dashboard/page"

// Routes returns the pages by path.
func Routes(s *page.Server) map[string]page.Route {
	deletePage := func(v *page.Visit) (any, error) { return deleteView{v.User.Email}, v.Confirmed() }
	list := map[string]page.Route{
		"/sign-in":         page.Offline("Sign in", "sign-in", signInPage, signIn),
		"/sign-in/code":    page.SignedIn("Your second factor", "second-factor", codePage, giveCode),
		"/sign-in/passkey": page.Offline("Sign in with a passkey", "passkey", passkeyPage, signInWithPasskey),
		"/sign-out":        page.Offline("Sign out", "sign-out", page.Nothing, signOut),
		"/link/{token}":    page.Public("Sign in", "link", linkPage, useLink),
		ProvedPath:         page.SignedIn("The account is yours", "proved", provedPage, revokeBefore),
		"/confirm":         page.SignedIn("Confirm that it is you", "confirm", confirmPage, confirm),
		"/confirm/passkey": page.SignedIn("Confirm with a passkey", "passkey", passkeyPage, confirmWithPasskey),

		"/dashboard/settings":          page.SignedIn("Settings", "settings", settings, nil),
		"/dashboard/settings/password": page.SignedIn("Set a password", "password", page.Nothing, setPassword),
		"/dashboard/settings/name":     page.SignedIn("Your name", "settings", settings, setName),
		"/dashboard/settings/sessions": page.SignedIn("Sessions", "settings", settings, endSessions),
		"/dashboard/settings/delete":   page.SignedIn("Delete the account", "delete", deletePage, deleteAccount),

		"/dashboard/settings/totp":        page.SignedIn("Set up an authenticator app", "totp", totpPage, setTOTP),
		"/dashboard/settings/totp/remove": page.SignedIn("Remove the authenticator app", "totp-remove", page.Nothing, removeTOTP),
		recoveryPath:                      page.SignedIn("Recovery codes", "recovery-codes", recoveryPage, renewRecovery),

		"/dashboard/settings/passkeys":                     page.SignedIn("Add a passkey", "passkey-add", passkeyAddPage, addPasskey),
		"/dashboard/settings/passkeys/{credential}/remove": page.SignedIn("Remove a passkey", "passkey-remove", passkeyToRemove, removePasskey),
	}
	if s.SignUp {
		list["/sign-up"] = page.Offline("Create an account", "sign-up", signUpPage, signUp)
	}
	if s.OpenID != nil {
		list["/sign-in/openid"] = page.Public("Sign in", "openid", signInWithOpenID, nil)
		list[OpenIDCallback] = page.Public("Sign in", "openid", openIDCallback, nil)
		list["/confirm/openid"] = page.SignedIn("Confirm that it is you", "openid", openIDPage, confirmWithOpenID)
		list["/dashboard/settings/identities"] = page.SignedIn("Link an identity", "openid", openIDPage, linkIdentity)
		list["/dashboard/settings/identities/remove"] = page.SignedIn("Settings", "settings", settings, unlinkIdentity)
	}
	return list
}
