package dashboard

import (
	"context"
	"errors"
	"net/http"
	"time"

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

// openIDView is the page before a detour to the provider.
type openIDView struct {
	Name     string `json:"name"`
	Location string `json:"location,omitempty"` // of the provider
}

func (d *Dashboard) openIDPage(*visit) (any, error) { return openIDView{Name: d.OpenID.Name}, nil }

// signInWithOpenID leads to the provider. It is a GET, reached by a link: after a
// POST, Chromium applies form-action to the redirect as well, and form-action
// would have to name the provider. It needs no form token, since it changes
// nothing but a challenge of this browser.
func (d *Dashboard) signInWithOpenID(v *visit) (any, error) {
	location, err := d.detour(v, identity.Detour{Purpose: toSignIn, To: v.returnTo()})
	if err != nil {
		return nil, err
	}
	return redirect(location, ""), nil
}

// linkIdentity begins to link an identity. It is a POST with a form token, so that
// another site cannot begin it; and the provider asks people to sign in again, so
// that an identity to which another site has signed them in is not linked unseen.
func (d *Dashboard) linkIdentity(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	return d.leave(v, identity.Detour{Purpose: toLink})
}

// confirmWithOpenID proves who is signed in by the provider.
func (d *Dashboard) confirmWithOpenID(v *visit) (*outcome, error) {
	return d.leave(v, identity.Detour{Purpose: toConfirm, To: v.returnTo()})
}

// leave responds to a POST with a page that leads to the provider, because form-action
// forbids a redirect (see signInWithOpenID). A refresh is a new navigation.
func (d *Dashboard) leave(v *visit, detour identity.Detour) (*outcome, error) {
	location, err := d.detour(v, detour)
	if err != nil {
		return nil, err
	}
	v.w.Header().Set("Refresh", "0; url="+location)
	return show(openIDView{d.OpenID.Name, location}), nil
}

// detour stores what must come back, and returns the provider's address.
func (d *Dashboard) detour(v *visit, detour identity.Detour) (location string, err error) {
	ctx, r := v.r.Context(), openid.NewRequest()
	if err := v.holdProvider(); err != nil {
		return "", err
	}
	if err := d.Identity.Attempt(ctx, identity.Challenges, v.from()); err != nil {
		return "", err
	}
	detour.Nonce, detour.Verifier = r.Nonce, r.Verifier
	if r.State, err = d.Identity.BeginDetour(ctx, v.token, detour); err != nil {
		return "", err
	}
	location, err = d.OpenID.URL(r, detour.Purpose != toSignIn)
	d.logOpenID(err)
	return location, err
}

// holdProvider takes room among those that wait for the provider, so that pages do not wait for it.
func (v *visit) holdProvider() error {
	return v.hold(v.limits.long, "sign-ins of "+v.callerNetwork(v.r), 1, errBusyNetwork)
}

// openIDCallback finishes a detour. The state is bound to this browser's cookie,
// so it needs no form token; it is worth something once. A slot comes first, so that
// no state is used up without one.
func (d *Dashboard) openIDCallback(v *visit) (any, error) {
	ctx, q := v.r.Context(), v.r.URL.Query()
	if err := v.holdProvider(); err != nil {
		return nil, err
	}
	detour, err := d.Identity.FinishDetour(ctx, v.token, q.Get("state"))
	if err != nil {
		return nil, err
	}
	if q.Get("code") == "" || q.Has("iss") && q.Get("iss") != d.OpenID.Issuer { // RFC 9207
		return nil, openid.ErrRefused
	}
	id, err := d.OpenID.Finish(ctx, openid.Request{Nonce: detour.Nonce, Verifier: detour.Verifier}, q.Get("code"))
	d.logOpenID(err)
	if err != nil {
		return nil, err
	}
	return d.arrive(v, detour, id)
}

// arrive does what the detour was for. The session is the one in which it began,
// since the state is bound to the session's cookie.
func (d *Dashboard) arrive(v *visit, detour identity.Detour, id openid.Identity) (*outcome, error) {
	ctx := v.r.Context()
	switch {
	case detour.Purpose == toSignIn:
		user, err := d.linkedUser(ctx, id)
		if err != nil {
			return nil, err
		}
		return v.start(user, detour.To)
	case !v.signedIn():
		return nil, errSignIn
	case id.SignedIn.Before(detour.Began.Add(-maxSkew)):
		return nil, openid.ErrNotFresh
	case detour.Purpose == toConfirm:
		user, err := d.linkedUser(ctx, id)
		if err != nil {
			return nil, err
		}
		if user.Account != v.user.Account {
			return nil, errNotLinked
		}
		return redirect(detour.To, "confirmed"), d.Identity.Confirm(ctx, *v.session)
	case v.user.Suspended:
		return nil, errSuspended
	}
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	return redirect("/dashboard/settings", "identity-linked"), d.Identity.Link(ctx, *v.user, id.Issuer, id.Subject)
}

// maxSkew is how far the provider's clock may be behind ours.
const maxSkew = time.Minute

var errNotLinked = &problem{status: http.StatusForbidden, code: "NOT_LINKED",
	sentence: "This identity is not linked to an account here. Sign in another way first, and link it in Settings."}

func (d *Dashboard) linkedUser(ctx context.Context, id openid.Identity) (identity.User, error) {
	user, err := d.Identity.LinkedUser(ctx, id.Issuer, id.Subject)
	if errors.Is(err, identity.ErrNoLinked) {
		err = errNotLinked
	}
	return user, err
}

func (d *Dashboard) unlinkIdentity(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	return redirect("/dashboard/settings", "identity-unlinked"),
		d.Identity.Unlink(v.r.Context(), *v.user, v.form.Get("issuer"), v.form.Get("subject"))
}

// logOpenID logs why the provider could not be used, for the operator.
func (d *Dashboard) logOpenID(err error) {
	if errors.Is(err, openid.ErrUnavailable) || errors.Is(err, openid.ErrRefused) {
		d.Log.Warn("a sign-in at the OpenID provider failed", "issuer", d.OpenID.Issuer, "error", err.Error())
	}
}
