package person

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/addrspec/addrspec/origin/dashboard/account"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/webhook"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

type signInView struct {
	To       string `json:"to"` // the page that follows
	Passkeys bool   `json:"passkeys"`
	OpenID   string `json:"openid,omitempty"` // the provider's name
}

func signInPage(v *page.Visit) (any, error) {
	if hasEntered(v) {
		return page.Redirect(v.ReturnTo(), ""), nil
	}
	view := signInView{To: v.ReturnTo(), Passkeys: v.Passkeys != nil}
	if v.OpenID != nil {
		view.OpenID = v.OpenID.Name
	}
	return view, nil
}

// hasEntered reports whether to lead on from a page for those who are not signed in.
// A form that was refused is shown all the same: it may be another account's.
func hasEntered(v *page.Visit) bool { return v.SignedIn() && v.Request.Method != http.MethodPost }

func signIn(v *page.Visit) (*page.Outcome, error) {
	user, err := v.Identity.CheckPassword(v.Context(), v.Form.Get("email"), v.Form.Get("password"), v.From())
	if err != nil {
		return nil, err
	}
	return start(v, user, v.ReturnTo())
}

// start signs a user in who has proved who they are by one factor.
func start(v *page.Visit, user identity.User, to string) (*page.Outcome, error) {
	if user.TOTP {
		return open(v, user, page.ErrSecondFactor.Location+"?to="+url.QueryEscape(to), false)
	}
	return open(v, user, to, true)
}

// signOut ends the session, on every replica.
func signOut(v *page.Visit) (*page.Outcome, error) {
	if v.Session != nil {
		err := v.Identity.EndSession(v.Context(), v.Session.Account, v.Session.ID)
		if err != nil && !errors.Is(err, identity.ErrNoSession) {
			return nil, err
		}
	}
	v.ClearCookie(page.SessionCookie)
	return page.Redirect("/sign-in", "signed-out"), nil
}

// linkView is the page of a one-time link. It asks before it uses the link up,
// because programs that show previews open links.
type linkView struct {
	Email string `json:"email"`
	First bool   `json:"first"` // it ends what was set up to sign in with before
}

func linkPage(v *page.Visit) (any, error) {
	if err := v.Identity.Attempt(v.Context(), identity.Links, v.From()); err != nil {
		return nil, err
	}
	user, err := v.Identity.LinkUser(v.Context(), v.Request.PathValue("token"))
	return linkView{user.Email, user.Unproven}, err
}

func useLink(v *page.Visit) (*page.Outcome, error) {
	if err := v.Identity.Attempt(v.Context(), identity.Links, v.From()); err != nil {
		return nil, err
	}
	user, first, err := v.Identity.UseLink(v.Context(), v.Request.PathValue("token"))
	if err != nil {
		return nil, err
	}
	if first {
		return start(v, user, ProvedPath)
	}
	return start(v, user, "/dashboard/settings/password")
}

// ProvedPath is the page after the first link of an account that was signed up for.
const ProvedPath = "/dashboard/settings/proved"

// provedView is the page that says what has ended with the first link, and shows what
// goes on although somebody else may have made it.
type provedView struct {
	Email   string            `json:"email"`
	Keys    []account.KeyView `json:"keys"`
	Webhook string            `json:"webhook,omitempty"`
}

func provedPage(v *page.Visit) (any, error) {
	view := provedView{Email: v.User.Email, Keys: []account.KeyView{}}
	keys, err := v.Ledger.ListKeys(v.Context(), v.User.Account, book.KeyPage{})
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if k.Created.Before(v.User.Created) {
			view.Keys = append(view.Keys, account.ViewOfKey(k, v.Session.Created))
		}
	}
	hook, err := v.Webhooks.Get(v.Context(), v.User.Account)
	if hook.Created.Before(v.User.Created) {
		view.Webhook = hook.URL
	}
	if errors.Is(err, webhook.ErrNone) {
		err = nil
	}
	return view, err
}

// revokeBefore revokes all that the page shows.
func revokeBefore(v *page.Visit) (*page.Outcome, error) {
	data, err := provedPage(v)
	if err != nil {
		return nil, err
	}
	if err := v.Ledger.RevokeKeysBefore(v.Context(), v.User.Account, v.User.Created); err != nil {
		return nil, err
	}
	if data.(provedView).Webhook != "" {
		err = v.Webhooks.Remove(v.Context(), v.User.Account)
	}
	return page.Redirect("/dashboard/settings/password", "before-revoked"), err
}

type signUpView struct {
	Plan       string `json:"plan"`
	Suggestion string `json:"suggestion,omitempty"` // what the email probably should be
	AsTyped    string `json:"-"`                    // the email that the suggestion is for
}

func signUpPage(v *page.Visit) (any, error) {
	if hasEntered(v) {
		return page.Redirect("/dashboard", ""), nil
	}
	email := normalEmail(v.Form.Get("email"))
	return signUpView{book.DefaultPlan, suggestion(v, email), email}, nil
}

// suggestion returns the email with a mistyped provider corrected, or "". The module
// needs no DNS for it.
func suggestion(v *page.Visit, email string) string {
	if email == "" {
		return "" // the page before anybody typed
	}
	facts, err := v.Engine.Check(v.Context(), nil, email, host.FullSuggestion)
	if err != nil || !facts.Has(host.Typo) {
		return ""
	}
	parsed, _ := result.Parse(facts.JSON) // the module's own
	return parsed.TypoSuggestion
}

var errMistyped = page.InputProblem("email", "The email looks mistyped. Use the suggestion, or type the "+
	"password and send the form again to keep the email as it is.")

// signUp creates an account and signs in. If the email looks mistyped, it asks once:
// a person who has seen the suggestion, in the page or from the script, insists by
// sending the same email again. Programs are not asked. It is bounded by address and day, counted
// after the fields are checked, so that a slip costs nothing.
//
// It says so if the email has an account. Nothing else would help: the service
// sends no mail, and who succeeds is signed in, so success and failure differ
// anyway. The bounds leave three guesses at emails per address and eight hours.
func signUp(v *page.Visit) (*page.Outcome, error) {
	if use := v.Form.Get("use"); use != "" {
		v.Form.Set("email", use)
		data, err := signUpPage(v)
		return page.Show(data), err
	}
	email, password := normalEmail(v.Form.Get("email")), v.Form.Get("password")
	if again, given := v.Form["again"]; given && again[0] != password {
		return nil, page.InputProblem("again", "The two passwords differ.")
	}
	if err := identity.CheckSignUp(email, password); err != nil {
		return nil, err
	}
	if !v.JSON && suggestion(v, email) != "" && normalEmail(v.Form.Get("as_typed")) != email {
		return nil, errMistyped
	}
	if err := v.Identity.Attempt(v.Context(), identity.SignUps, v.From()); err != nil {
		return nil, err
	}
	user, err := v.Identity.SignUp(v.Context(), email, password)
	if errors.Is(err, book.ErrAccountExists) {
		return nil, page.InputProblem("email", "There is an account with this email already. "+
			"Sign in, or ask the operator for a one-time link.")
	}
	if err != nil {
		return nil, err
	}
	return open(v, user, "/dashboard", true)
}

type codeView struct {
	To       string `json:"to"`
	Passkeys bool   `json:"passkeys"` // a passkey may be used instead
}

func codePage(v *page.Visit) (any, error) {
	if v.SignedIn() {
		return page.Redirect("/dashboard", ""), nil
	}
	return codeView{v.ReturnTo(), v.User.Passkeys > 0 && v.Passkeys != nil}, nil
}

// giveCode completes a session by a code of the authenticator app or a recovery
// code. The session gets a new token.
func giveCode(v *page.Visit) (*page.Outcome, error) {
	if v.SignedIn() {
		return page.Redirect("/dashboard", ""), nil
	}
	if err := v.Identity.CheckCode(v.Context(), *v.User, v.Form.Get("code")); err != nil {
		return nil, err
	}
	return open(v, *v.User, v.ReturnTo(), true)
}

// open starts a session, in place of the one that the browser had.
func open(v *page.Visit, user identity.User, to string, complete bool) (*page.Outcome, error) {
	client := clientName(v.Request.UserAgent())
	token, err := v.Identity.SignIn(v.Context(), user, v.Cookie(page.SessionCookie), client, complete)
	if err != nil {
		return nil, err
	}
	v.SetCookie(page.SessionCookie, token, page.CookieLife)
	v.ClearCookie(page.FormCookie)
	v.Token = token
	if complete {
		remember(v, &user)
	}
	return page.Redirect(to, ""), nil
}

func remember(v *page.Visit, user *identity.User) {
	v.SetCookie(page.DeviceCookie, user.DeviceToken(), page.DeviceLife)
}

// rememberAgain does so after a change that has ended the tokens of devices. If it fails,
// the browser counts as any other until its next sign-in.
func rememberAgain(v *page.Visit) {
	if user, err := v.Identity.User(v.Context(), v.User.Account); err == nil {
		remember(v, &user)
	}
}

// clientName describes a browser from its User-Agent, for the list of sessions.
// The string itself is not stored: it is long, and anybody can write it.
func clientName(userAgent string) string {
	name := ""
	for _, partsAndNames := range [][]string{
		{"Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "FxiOS/", "Firefox", "Chrome/", "Chrome", "CriOS/", "Chrome",
			"Safari/", "Safari", "curl/", "curl", "", "an unknown program"},
		{"iPhone", " on iPhone", "iPad", " on iPad", "Android", " on Android", "Windows", " on Windows", "Mac OS X", " on macOS",
			"CrOS", " on ChromeOS", "Linux", " on Linux"},
	} {
		for i := 0; i < len(partsAndNames); i += 2 {
			if strings.Contains(userAgent, partsAndNames[i]) {
				name += partsAndNames[i+1]
				break
			}
		}
	}
	return name
}

func normalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }
