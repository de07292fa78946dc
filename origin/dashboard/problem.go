package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/identity/openid"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/result"
)

// A problem is why a request is refused, with what to do about it.
type problem struct {
	status   int
	code     string
	sentence string
	field    string // of the form, or ""
	input    bool   // the page can be shown again with the sentence
	location string // a page that helps, such as /sign-in
	wait     time.Duration
}

func (p *problem) Error() string { return p.sentence }

// The problems that several pages have.
var (
	errSignIn       = &problem{status: http.StatusUnauthorized, code: "SIGN_IN", sentence: "Sign in first.", location: "/sign-in"}
	errSecondFactor = &problem{status: http.StatusUnauthorized, code: "SECOND_FACTOR", sentence: "Give your second factor first.", location: "/sign-in/code"}
	errConfirm      = &problem{status: http.StatusForbidden, code: "CONFIRM", sentence: "Confirm that it is you first.", location: "/confirm"}
	errNotFound     = &problem{status: http.StatusNotFound, code: "NOT_FOUND", sentence: "There is no such page, or it is not yours."}
	errSuspended    = &problem{status: http.StatusForbidden, code: "SUSPENDED", input: true,
		sentence: "The account is suspended, so this cannot be done. You can still read everything, revoke keys, end sessions, change the password and second factors, and remove passkeys. Contact the operator of this service."}
	errCrossOrigin = &problem{status: http.StatusForbidden, code: "CROSS_ORIGIN", sentence: "The form was sent from another site."}
	errNoCookie    = &problem{status: http.StatusForbidden, code: "NO_COOKIE",
		sentence: "Your browser sent no cookie with the form, so it does not keep those of this site. " +
			"Allow cookies for this site in the settings of the browser, then open the page again."}
	errFormToken = &problem{status: http.StatusForbidden, code: "FORM_TOKEN",
		sentence: "The form is out of date, because you have signed in or out since. Load the page again; a program sends the header X-Form-Token with the value that GET returned."}
)

// inputProblem returns a problem with a field of a form.
func inputProblem(field, sentence string) *problem {
	return &problem{status: http.StatusUnprocessableEntity, code: "INVALID_INPUT", sentence: sentence, field: field, input: true}
}

// problemOf returns err as a problem. What has no sentence for people is a fault
// of the service.
func problemOf(err error) *problem {
	var p *problem
	var input *identity.InputError
	var tooMany *identity.TooManyError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &input):
		return inputProblem(input.Field, input.Sentence)
	case errors.As(err, &tooMany):
		return &problem{status: http.StatusTooManyRequests, code: "TOO_MANY_ATTEMPTS", input: true, wait: tooMany.Wait,
			sentence: "There were too many attempts. Try again in " + words.Wait(tooMany.Wait) + "."}
	case errors.Is(err, book.ErrNoKey), errors.Is(err, identity.ErrNoSession), errors.Is(err, book.ErrNoAccount), errors.Is(err, book.ErrNoPolicy):
		return errNotFound
	case errors.Is(err, book.ErrSuspended):
		return errSuspended
	case errors.Is(err, identity.ErrBusy):
		return &problem{status: http.StatusServiceUnavailable, code: "BUSY", sentence: sentence(err), input: true, wait: time.Second}
	case errors.Is(err, store.ErrUnavailable):
		return &problem{status: http.StatusServiceUnavailable, code: "UNAVAILABLE", sentence: "The database does not respond at the moment. Try again shortly.", wait: time.Second}
	}
	if p := factorProblem(err); p != nil {
		return p
	}
	return &problem{status: http.StatusInternalServerError, code: "INTERNAL_ERROR", sentence: "The page failed because of a fault in the service. Try again; if it persists, contact the operator."}
}

// sentence returns an error's text as a sentence.
func sentence(err error) string { return result.Sentence(err.Error()) }

// refuse ends a visit that goes no further. Browsers without a session are led to the page that helps.
func (v *visit) refuse(err error) {
	p := problemOf(err)
	if p.status == http.StatusInternalServerError {
		v.Log.Error("a page failed", "error", err.Error())
	}
	if p.location != "" && !v.json {
		to := v.r.URL.Path // of its form, for a POST
		if v.r.Method == http.MethodGet && v.r.URL.RawQuery != "" {
			to += "?" + v.r.URL.RawQuery
		}
		http.Redirect(v.w, v.r, p.location+"?to="+url.QueryEscape(to), http.StatusSeeOther)
		return
	}
	if p.wait > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(words.WholeSeconds(p.wait)))
	}
	v.render(p.status, route{title: http.StatusText(p.status), file: "problem"}, struct{}{}, p)
}

// refusals are errors of sign-ins that people can mend on the same page.
var refusals = []error{
	identity.ErrWrongPassword, identity.ErrLinkUsed, identity.ErrChanged, identity.ErrWrongCode, identity.ErrChallenge, identity.ErrPasskey,
	identity.ErrClonedKey, identity.ErrMorePasskey, identity.ErrMoreLinked, identity.ErrNoPasskeys,
}

// factorProblem returns the problem of an error of how people sign in, or nil.
func factorProblem(err error) *problem {
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return &problem{status: http.StatusUnprocessableEntity, code: "REFUSED", sentence: sentence(refusal), input: true}
		}
	}
	switch {
	case errors.Is(err, identity.ErrNoPasskey), errors.Is(err, identity.ErrNoLinked):
		return errNotFound
	case errors.Is(err, openid.ErrUnavailable):
		return &problem{status: http.StatusServiceUnavailable, code: "PROVIDER_UNAVAILABLE", wait: 5 * time.Second,
			sentence: sentence(openid.ErrUnavailable) + " Sign in another way, or try again in a few seconds."}
	case errors.Is(err, openid.ErrRefused):
		return &problem{status: http.StatusForbidden, code: "PROVIDER_REFUSED", sentence: sentence(openid.ErrRefused) + " Try again, or sign in another way."}
	case errors.Is(err, openid.ErrNotFresh):
		return &problem{status: http.StatusForbidden, code: "PROVIDER_NOT_FRESH", sentence: sentence(openid.ErrNotFresh) + " Sign out there, and try again."}
	}
	return nil
}
