package person

import (
	"errors"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/identity/openid"
)

// OpenIDCallback is the path to which an OpenID provider sends people back.
const OpenIDCallback = "/sign-in/openid/callback"

// The purposes of a detour to the provider.
const (
	toSignIn  = "sign in"
	toLink    = "link"
	toConfirm = "confirm"
)

// OpenIDView is the page before a detour to the provider.
type OpenIDView struct {
	Name     string `json:"name"`
	Location string `json:"location,omitempty"` // of the provider
}

func openIDPage(v *page.Visit) (any, error) { return OpenIDView{Name: v.OpenID.Name}, nil }

// signInWithOpenID leads to the provider. It is a GET, reached by a link: after a
// POST, Chromium applies form-action to the redirect as well, and form-action
// would have to name the provider. It needs no form token, since it changes
// nothing but a challenge of this browser.
func signInWithOpenID(v *page.Visit) (any, error) {
	location, err := beginDetour(v, toSignIn)
	return page.Redirect(location, ""), err
}

// leadToProvider returns a POST that leads to the provider. It has a form token, so that another site cannot begin
// to link an identity; and the provider asks people to sign in again, so that an identity to which another
// site has signed them in is not linked unseen. It responds with a page, because form-action forbids a
// redirect (see signInWithOpenID). A refresh is a new navigation.
func leadToProvider(purpose string) func(v *page.Visit) (*page.Outcome, error) {
	return func(v *page.Visit) (*page.Outcome, error) {
		location, err := beginDetour(v, purpose)
		if err != nil {
			return nil, err
		}
		v.Writer.Header().Set("Refresh", "0; url="+location)
		return page.Show(OpenIDView{v.OpenID.Name, location}), nil
	}
}

// beginDetour stores what must come back, and returns the provider's address.
func beginDetour(v *page.Visit, purpose string) (location string, err error) {
	ctx, r := v.Context(), openid.NewRequest()
	if err := holdProvider(v); err != nil {
		return "", err
	}
	if err := v.Identity.Attempt(ctx, identity.Challenges, v.From()); err != nil {
		return "", err
	}
	detour := identity.Detour{Purpose: purpose, To: v.ReturnTo(), Nonce: r.Nonce, Verifier: r.Verifier}
	if r.State, err = v.Identity.BeginDetour(ctx, v.Token, detour); err != nil {
		return "", err
	}
	location, err = v.OpenID.URL(r, purpose != toSignIn)
	logOpenID(v.Server, err)
	return location, err
}

// holdProvider takes room among those that wait for the provider, so that pages do not wait for it.
func holdProvider(v *page.Visit) error {
	return v.Hold(v.Limits.Long, "sign-ins of "+v.CallerNetwork(v.Request), 1, page.ErrBusyNetwork)
}

// openIDCallback finishes a detour, and does what it was for. The state is bound to this browser's cookie,
// so it needs no form token; the state is valid once. Room among those that wait for the provider comes first,
// so that no state is used up without it.
func openIDCallback(v *page.Visit) (any, error) {
	ctx, q := v.Context(), v.Request.URL.Query()
	if err := holdProvider(v); err != nil {
		return nil, err
	}
	detour, err := v.Identity.FinishDetour(ctx, v.Token, q.Get("state"))
	if err != nil {
		return nil, err
	}
	if q.Get("code") == "" || q.Has("iss") && q.Get("iss") != v.OpenID.Issuer { // RFC 9207
		return nil, openid.ErrRefused
	}
	id, err := v.OpenID.Finish(ctx, openid.Request{Nonce: detour.Nonce, Verifier: detour.Verifier}, q.Get("code"))
	logOpenID(v.Server, err)
	switch {
	case err != nil:
		return nil, err
	case detour.Purpose != toSignIn && !v.SignedIn():
		return nil, page.ErrSignIn
	case detour.Purpose != toSignIn && id.SignedIn.Before(detour.Began.Add(-maxSkew)):
		return nil, openid.ErrNotFresh
	case detour.Purpose == toLink && v.User.Suspended:
		return nil, page.ErrSuspended
	case detour.Purpose == toLink:
		if err := v.Confirmed(); err != nil {
			return nil, err
		}
		done := page.Redirect("/dashboard/settings", "identity-linked")
		return done, v.Identity.Link(ctx, *v.User, id.Issuer, id.Subject)
	}
	user, err := v.Identity.LinkedUser(ctx, id.Issuer, id.Subject)
	switch {
	case errors.Is(err, identity.ErrNoLinked):
		return nil, errNotLinked
	case err != nil:
		return nil, err
	case detour.Purpose == toSignIn:
		return start(v, user, detour.To)
	case user.Account != v.User.Account:
		return nil, errNotLinked
	}
	return page.Redirect(detour.To, "confirmed"), v.Identity.Confirm(ctx, *v.Session)
}

// maxSkew is how far the provider's clock may be behind ours.
const maxSkew = time.Minute

var errNotLinked = &page.Problem{Status: http.StatusForbidden, Code: "NOT_LINKED",
	Sentence: "This identity is not linked to an account here. Sign in another way first, and link it in Settings."}

func unlinkIdentity(v *page.Visit) (*page.Outcome, error) {
	return page.Redirect("/dashboard/settings", "identity-unlinked"),
		v.Identity.Unlink(v.Context(), *v.User, v.Form.Get("issuer"), v.Form.Get("subject"))
}

// logOpenID logs why the provider could not be used, for the operator.
func logOpenID(d *page.Server, err error) {
	if errors.Is(err, openid.ErrUnavailable) || errors.Is(err, openid.ErrRefused) {
		d.Log.Warn("a sign-in at the OpenID provider failed", "issuer", d.OpenID.Issuer, "error", err.Error())
	}
}
