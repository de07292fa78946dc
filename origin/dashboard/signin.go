package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/webhook"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// signInView is the page where people sign in.
type signInView struct {
	To       string `json:"to"` // the page that follows
	Passkeys bool   `json:"passkeys"`
	OpenID   string `json:"openid,omitempty"` // the provider's name
}

func (d *Dashboard) signInPage(v *visit) (any, error) {
	if v.hasEntered() {
		return redirect(v.returnTo(), ""), nil
	}
	view := signInView{To: v.returnTo(), Passkeys: d.passkeys != nil}
	if d.OpenID != nil {
		view.OpenID = d.OpenID.Name
	}
	return view, nil
}

// hasEntered reports whether to lead on from a page for those who are not signed in.
// A form that was refused is shown all the same: it may be another account's.
func (v *visit) hasEntered() bool { return v.signedIn() && v.r.Method != http.MethodPost }

func (d *Dashboard) signIn(v *visit) (*outcome, error) {
	user, err := d.Identity.CheckPassword(v.r.Context(), v.form.Get("email"), v.form.Get("password"), v.from())
	if err != nil {
		return nil, err
	}
	return v.start(user, v.returnTo())
}

// start signs a user in who has proved who they are by one factor.
func (v *visit) start(user identity.User, to string) (*outcome, error) {
	if user.TOTP {
		return v.open(user, errSecondFactor.location+"?to="+url.QueryEscape(to), false)
	}
	return v.open(user, to, true)
}

// signOut ends the session, on every replica.
func (d *Dashboard) signOut(v *visit) (*outcome, error) {
	if v.session != nil {
		err := d.Identity.EndSession(v.r.Context(), v.session.Account, v.session.ID)
		if err != nil && !errors.Is(err, identity.ErrNoSession) {
			return nil, err
		}
	}
	v.clearCookie(sessionCookie)
	return redirect("/sign-in", "signed-out"), nil
}

// linkView is the page of a one-time link. It asks before it uses the link up,
// because programs that show previews open links.
type linkView struct {
	Email string `json:"email"`
	First bool   `json:"first"` // it ends what was set up to sign in with before
}

func (d *Dashboard) linkPage(v *visit) (any, error) {
	if err := d.Identity.Attempt(v.r.Context(), identity.Links, v.from()); err != nil {
		return nil, err
	}
	user, err := d.Identity.LinkUser(v.r.Context(), v.r.PathValue("token"))
	return linkView{user.Email, user.Unproven}, err
}

func (d *Dashboard) useLink(v *visit) (*outcome, error) {
	if err := d.Identity.Attempt(v.r.Context(), identity.Links, v.from()); err != nil {
		return nil, err
	}
	user, first, err := d.Identity.UseLink(v.r.Context(), v.r.PathValue("token"))
	if err != nil {
		return nil, err
	}
	if first {
		return v.start(user, provedPath)
	}
	return v.start(user, "/dashboard/settings/password")
}

// provedPath is the page after the first link of an account that was signed up for.
const provedPath = "/dashboard/settings/proved"

// provedView is the page that says what has ended with the first link, and shows what
// goes on although somebody else may have made it.
type provedView struct {
	Email   string    `json:"email"`
	Keys    []keyView `json:"keys"`
	Webhook string    `json:"webhook,omitempty"`
}

func (d *Dashboard) provedPage(v *visit) (any, error) {
	view := provedView{Email: v.user.Email, Keys: []keyView{}}
	list, err := d.Ledger.ListKeys(v.r.Context(), v.user.Account, book.KeyPage{})
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		if k.Created.Before(v.user.Created) {
			view.Keys = append(view.Keys, viewOfKey(k, v.session.Created))
		}
	}
	hook, err := v.Webhooks.Get(v.r.Context(), v.user.Account)
	if hook.Created.Before(v.user.Created) {
		view.Webhook = hook.URL
	}
	if errors.Is(err, webhook.ErrNone) {
		err = nil
	}
	return view, err
}

// revokeBefore revokes all that the page shows.
func (d *Dashboard) revokeBefore(v *visit) (*outcome, error) {
	data, err := d.provedPage(v)
	if err != nil {
		return nil, err
	}
	if err := d.Ledger.RevokeKeysBefore(v.r.Context(), v.user.Account, v.user.Created); err != nil {
		return nil, err
	}
	if data.(provedView).Webhook != "" {
		err = v.Webhooks.Remove(v.r.Context(), v.user.Account)
	}
	return redirect("/dashboard/settings/password", "before-revoked"), err
}

// signUpView is the page where anybody creates an account.
type signUpView struct {
	Plan       string `json:"plan"`
	Suggestion string `json:"suggestion,omitempty"` // what the email probably should be
	AsTyped    string `json:"-"`                    // the email that the suggestion is for
}

func (d *Dashboard) signUpPage(v *visit) (any, error) {
	if v.hasEntered() {
		return redirect("/dashboard", ""), nil
	}
	email := normalEmail(v.form.Get("email"))
	return signUpView{book.DefaultPlan, v.suggestion(email), email}, nil
}

// suggestion returns the email with a mistyped provider corrected, or "". The module
// needs no DNS for it.
func (v *visit) suggestion(email string) string {
	if email == "" {
		return "" // the page before anybody typed
	}
	facts, err := v.Engine.Check(v.r.Context(), nil, email, host.FullSuggestion)
	if err != nil || !facts.Has(host.Typo) {
		return ""
	}
	parsed, _ := result.Parse(facts.JSON) // the module's own
	return parsed.TypoSuggestion
}

var errMistyped = inputProblem("email", "The email looks mistyped. Use the suggestion, or type the password and send the form again to keep the email as it is.")

// signUp creates an account and signs in. If the email looks mistyped, it asks once:
// a person who has seen the suggestion, in the page or from the script, insists by
// sending the same email again. Programs are not asked. It is bounded by address and day, counted
// after the fields are checked, so that a slip costs nothing.
//
// It says so if the email has an account. Nothing else would help: the service
// sends no mail, and who succeeds is signed in, so success and failure differ
// anyway. The bounds leave three guesses at emails per address and eight hours.
func (d *Dashboard) signUp(v *visit) (*outcome, error) {
	if use := v.form.Get("use"); use != "" {
		v.form.Set("email", use)
		data, err := d.signUpPage(v)
		return show(data), err
	}
	email, password := normalEmail(v.form.Get("email")), v.form.Get("password")
	if again, given := v.form["again"]; given && again[0] != password {
		return nil, inputProblem("again", "The two passwords differ.")
	}
	if err := identity.CheckSignUp(email, password); err != nil {
		return nil, err
	}
	if !v.json && v.suggestion(email) != "" && normalEmail(v.form.Get("as_typed")) != email {
		return nil, errMistyped
	}
	if err := d.Identity.Attempt(v.r.Context(), identity.SignUps, v.from()); err != nil {
		return nil, err
	}
	user, err := d.Identity.SignUp(v.r.Context(), email, password)
	if errors.Is(err, book.ErrAccountExists) {
		return nil, inputProblem("email", "There is an account with this email already. Sign in, or ask the operator for a one-time link.")
	}
	if err != nil {
		return nil, err
	}
	return v.open(user, "/dashboard", true)
}

// codeView is the page that asks for the second factor.
type codeView struct {
	To       string `json:"to"`
	Passkeys bool   `json:"passkeys"` // a passkey may be used instead
}

func (d *Dashboard) codePage(v *visit) (any, error) {
	if v.signedIn() {
		return redirect("/dashboard", ""), nil
	}
	return codeView{v.returnTo(), v.user.Passkeys > 0 && d.passkeys != nil}, nil
}

// giveCode completes a session by a code of the authenticator app or a recovery
// code. The session gets a new token.
func (d *Dashboard) giveCode(v *visit) (*outcome, error) {
	if v.signedIn() {
		return redirect("/dashboard", ""), nil
	}
	if err := d.Identity.CheckCode(v.r.Context(), *v.user, v.form.Get("code")); err != nil {
		return nil, err
	}
	return v.open(*v.user, v.returnTo(), true)
}

// open starts a session, in place of the one that the browser had.
func (v *visit) open(user identity.User, to string, complete bool) (*outcome, error) {
	token, err := v.Identity.SignIn(v.r.Context(), user, v.cookie(sessionCookie), clientName(v.r.UserAgent()), complete)
	if err != nil {
		return nil, err
	}
	v.setCookie(sessionCookie, token, cookieLife)
	v.clearCookie(formCookie)
	v.token = token
	if complete {
		v.remember(&user)
	}
	return redirect(to, ""), nil
}

// remember marks the browser as one in which the user has signed in.
func (v *visit) remember(user *identity.User) {
	v.setCookie(deviceCookie, user.DeviceToken(), deviceLife)
}

// rememberAgain does so after a change that has ended the tokens of devices. If it fails,
// the browser counts as any other until its next sign-in.
func (v *visit) rememberAgain() {
	if user, err := v.Identity.User(v.r.Context(), v.user.Account); err == nil {
		v.remember(&user)
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
