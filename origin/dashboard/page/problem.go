package page

import (
	"errors"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/identity/openid"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/result"
)

// A Problem is why a request is refused, with what to do about it.
type Problem struct {
	Status   int
	Code     string
	Sentence string
	Field    string // of the form, or ""
	Input    bool   // the page can be shown again with the sentence
	Location string // a page that helps, such as /sign-in
	Wait     time.Duration
}

func (p *Problem) Error() string { return p.Sentence }

// The problems that several pages have.
var (
	ErrSignIn       = &Problem{Status: http.StatusUnauthorized, Code: "SIGN_IN", Sentence: "Sign in first.", Location: "/sign-in"}
	ErrSecondFactor = &Problem{Status: http.StatusUnauthorized, Code: "SECOND_FACTOR", Sentence: "Give your second factor first.", Location: "/sign-in/code"}
	errConfirm      = &Problem{Status: http.StatusForbidden, Code: "CONFIRM", Sentence: "Confirm that it is you first.", Location: "/confirm"}
	ErrNotFound     = &Problem{Status: http.StatusNotFound, Code: "NOT_FOUND", Sentence: "There is no such page, or it is not yours."}
	ErrSuspended    = &Problem{Status: http.StatusForbidden, Code: "SUSPENDED", Input: true,
		Sentence: "The account is suspended, so this cannot be done. You can still read everything, revoke keys, end sessions, change the password and second factors, and remove passkeys. Contact the operator of this service."}
	errCrossOrigin = &Problem{Status: http.StatusForbidden, Code: "CROSS_ORIGIN", Sentence: "The form was sent from another site."}
	errNoCookie    = &Problem{Status: http.StatusForbidden, Code: "NO_COOKIE",
		Sentence: "Your browser sent no cookie with the form, so it does not keep those of this site. " +
			"Allow cookies for this site in the settings of the browser, then open the page again."}
	errFormToken = &Problem{Status: http.StatusForbidden, Code: "FORM_TOKEN",
		Sentence: "The form is out of date, because you have signed in or out since. Load the page again; a program sends the header X-Form-Token with the value that GET returned."}
)

// InputProblem returns a problem with a field of a form.
func InputProblem(field, sentence string) *Problem {
	return &Problem{Status: http.StatusUnprocessableEntity, Code: "INVALID_INPUT", Sentence: sentence, Field: field, Input: true}
}

// ProblemOf returns err as a problem. What has no sentence for people is a fault
// of the service.
func ProblemOf(err error) *Problem {
	var p *Problem
	var input *identity.InputError
	var tooMany *identity.TooManyError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &input):
		return InputProblem(input.Field, input.Sentence)
	case errors.As(err, &tooMany):
		return &Problem{Status: http.StatusTooManyRequests, Code: "TOO_MANY_ATTEMPTS", Input: true, Wait: tooMany.Wait,
			Sentence: "There were too many attempts. Try again in " + words.Wait(tooMany.Wait) + "."}
	case errors.Is(err, book.ErrNoKey), errors.Is(err, identity.ErrNoSession), errors.Is(err, book.ErrNoAccount), errors.Is(err, book.ErrNoPolicy):
		return ErrNotFound
	case errors.Is(err, book.ErrSuspended):
		return ErrSuspended
	case errors.Is(err, identity.ErrBusy):
		return &Problem{Status: http.StatusServiceUnavailable, Code: "BUSY", Sentence: Sentence(err), Input: true, Wait: time.Second}
	case errors.Is(err, store.ErrUnavailable):
		return &Problem{Status: http.StatusServiceUnavailable, Code: "UNAVAILABLE", Sentence: "The database does not respond at the moment. Try again shortly.", Wait: time.Second}
	}
	if p := factorProblem(err); p != nil {
		return p
	}
	return &Problem{Status: http.StatusInternalServerError, Code: "INTERNAL_ERROR", Sentence: "The page failed because of a fault in the service. Try again; if it persists, contact the operator."}
}

// Sentence returns an error's text as a sentence.
func Sentence(err error) string { return result.Sentence(err.Error()) }

// refusals are errors of sign-ins that people can mend on the same page.
var refusals = []error{
	identity.ErrWrongPassword, identity.ErrLinkUsed, identity.ErrChanged, identity.ErrWrongCode, identity.ErrChallenge, identity.ErrPasskey,
	identity.ErrClonedKey, identity.ErrMorePasskey, identity.ErrMoreLinked, identity.ErrNoPasskeys,
}

// factorProblem returns the problem of an error of how people sign in, or nil.
func factorProblem(err error) *Problem {
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return &Problem{Status: http.StatusUnprocessableEntity, Code: "REFUSED", Sentence: Sentence(refusal), Input: true}
		}
	}
	switch {
	case errors.Is(err, identity.ErrNoPasskey), errors.Is(err, identity.ErrNoLinked):
		return ErrNotFound
	case errors.Is(err, openid.ErrUnavailable):
		return &Problem{Status: http.StatusServiceUnavailable, Code: "PROVIDER_UNAVAILABLE", Wait: 5 * time.Second,
			Sentence: Sentence(openid.ErrUnavailable) + " Sign in another way, or try again in a few seconds."}
	case errors.Is(err, openid.ErrRefused):
		return &Problem{Status: http.StatusForbidden, Code: "PROVIDER_REFUSED", Sentence: Sentence(openid.ErrRefused) + " Try again, or sign in another way."}
	case errors.Is(err, openid.ErrNotFresh):
		return &Problem{Status: http.StatusForbidden, Code: "PROVIDER_NOT_FRESH", Sentence: Sentence(openid.ErrNotFresh) + " Sign out there, and try again."}
	}
	return nil
}
