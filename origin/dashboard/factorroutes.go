package dashboard

// factorRoutes has the pages of how people sign in, beside password and link.
func (d *Dashboard) factorRoutes() map[string]route {
	list := map[string]route{
		"/sign-in/code":    {signedIn, "Your second factor", "second-factor", d.codePage, d.giveCode},
		"/sign-in/passkey": {public, "Sign in with a passkey", "passkey", d.passkeyPage, d.signInWithPasskey},
		"/confirm/passkey": {signedIn, "Confirm with a passkey", "passkey", d.passkeyPage, d.confirmWithPasskey},

		"/dashboard/settings/totp":           {signedIn, "Set up an authenticator app", "totp", d.totpPage, d.setTOTP},
		"/dashboard/settings/totp/remove":    {signedIn, "Remove the authenticator app", "totp-remove", nothing, d.removeTOTP},
		"/dashboard/settings/recovery-codes": {signedIn, "Recovery codes", "recovery-codes", d.recoveryPage, d.renewRecovery},

		"/dashboard/settings/passkeys":                     {signedIn, "Add a passkey", "passkey-add", d.passkeyAddPage, d.addPasskey},
		"/dashboard/settings/passkeys/{credential}/remove": {signedIn, "Remove a passkey", "passkey-remove", d.passkeyToRemove, d.removePasskey},

		"/dashboard/settings/log":    {signedIn, "Audit log", "audit", d.auditPage, nil},
		"/dashboard/settings/delete": {signedIn, "Delete the account", "delete", d.deletePage, d.deleteAccount},
	}
	if d.SignUp {
		list["/sign-up"] = route{public, "Create an account", "sign-up", d.signUpPage, d.signUp}
	}
	if d.OpenID != nil {
		d.addOpenIDRoutes(list)
	}
	return list
}

func (d *Dashboard) addOpenIDRoutes(list map[string]route) {
	list["/sign-in/openid"] = route{public, "Sign in", "openid", d.signInWithOpenID, nil}
	list["/sign-in/openid/callback"] = route{public, "Sign in", "openid", d.openIDCallback, nil}
	list["/confirm/openid"] = route{signedIn, "Confirm that it is you", "openid", d.openIDPage, d.confirmWithOpenID}
	list["/dashboard/settings/identities"] = route{signedIn, "Link an identity", "openid", d.openIDPage, d.linkIdentity}
	list["/dashboard/settings/identities/remove"] = route{signedIn, "Settings", "settings", d.settings, d.unlinkIdentity}
}
