// Package person has the pages with which people sign in, and those of their settings: passwords,
// links, authenticator apps, passkeys, identities of OpenID, sessions.
package person

import "github.com/addrspec/addrspec/origin/dashboard/page"

// Routes returns the pages by path.
func Routes(s *page.Server) map[string]page.Route {
	deletePage := func(v *page.Visit) (any, error) { return deleteView{v.User.Email}, nil }
	routes := map[string]page.Route{
		"/sign-in":         page.Offline.Page("Sign in", "sign-in", signInPage, signIn),
		"/sign-in/code":    page.SignedIn.Page("Your second factor", "second-factor", codePage, giveCode),
		passkeySignIn:      page.Offline.Page("Sign in with a passkey", "passkey", passkeyPage, usePasskey),
		"/sign-out":        page.Offline.Page("Sign out", "sign-out", page.Nothing, signOut),
		"/link/{token}":    page.Public.Page("Sign in", "link", linkPage, useLink),
		ProvedPath:         page.SignedIn.Page("The account is yours", "proved", provedPage, revokeBefore),
		"/confirm":         page.SignedIn.Page("Confirm that it is you", "confirm", confirmPage, confirm),
		"/confirm/passkey": page.SignedIn.Page("Confirm with a passkey", "passkey", passkeyPage, usePasskey),

		"/dashboard/settings":          page.SignedIn.Page("Settings", "settings", settings, nil),
		"/dashboard/settings/password": page.SignedIn.Page("Set a password", "password", page.Nothing, confirmed(setPassword)),
		"/dashboard/settings/name":     page.SignedIn.Page("Your name", "settings", settings, setName),
		"/dashboard/settings/sessions": page.SignedIn.Page("Sessions", "settings", settings, endSessions),
		"/dashboard/settings/delete": page.SignedIn.Page("Delete the account", "delete",
			confirmed(deletePage), confirmed(deleteAccount)),

		"/dashboard/settings/totp": page.SignedIn.Page("Set up an authenticator app", "totp",
			confirmed(totpPage), confirmed(setTOTP)),
		"/dashboard/settings/totp/remove": page.SignedIn.Page("Remove the authenticator app", "totp-remove",
			page.Nothing, confirmed(removeTOTP)),
		recoveryPath: page.SignedIn.Page("Recovery codes", "recovery-codes", recoveryPage, confirmed(renewRecovery)),

		"/dashboard/settings/passkeys": page.SignedIn.Page("Add a passkey", "passkey-add",
			confirmed(passkeyPage), confirmed(addPasskey)),
		"/dashboard/settings/passkeys/{credential}/remove": page.SignedIn.Page("Remove a passkey", "passkey-remove",
			passkeyToRemove, confirmed(removePasskey)),
	}
	if s.SignUp {
		routes["/sign-up"] = page.Offline.Page("Create an account", "sign-up", signUpPage, signUp)
	}
	if s.OpenID != nil {
		routes["/sign-in/openid"] = page.Public.Page("Sign in", "openid", signInWithOpenID, nil)
		routes[OpenIDCallback] = page.Public.Page("Sign in", "openid", openIDCallback, nil)
		routes["/confirm/openid"] = page.SignedIn.Page("Confirm that it is you", "openid", openIDPage, leadToProvider(toConfirm))
		routes["/dashboard/settings/identities"] = page.SignedIn.Page("Link an identity", "openid",
			openIDPage, confirmed(leadToProvider(toLink)))
		routes["/dashboard/settings/identities/remove"] = page.SignedIn.Page("Settings", "settings",
			settings, confirmed(unlinkIdentity))
	}
	return routes
}

// confirmed lets those do something who have proved recently who they are.
func confirmed[T any](do func(*page.Visit) (T, error)) func(*page.Visit) (T, error) {
	return func(v *page.Visit) (result T, err error) {
		if err := v.Confirmed(); err != nil {
			return result, err
		}
		return do(v)
	}
}
