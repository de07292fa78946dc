package page

import (
	"cmp"
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

// A Problem is why a request is refused, with what to do about it, as pages and JSON show it. Its first
// members are the API's shape A.
type Problem struct {
	Status   int           `json:"status"`
	Sentence string        `json:"error"`
	Code     string        `json:"code"`
	Field    string        `json:"field,omitempty"`    // of the form
	Location string        `json:"location,omitempty"` // a page that helps, such as /sign-in
	Input    bool          `json:"-"`                  // the page can be shown again with the sentence
	Wait     time.Duration `json:"-"`                  // until a client should try again
}

func (p *Problem) Error() string { return p.Sentence }

// The problems that several pages have.
var (
	ErrSignIn = &Problem{Status: http.StatusUnauthorized, Code: "SIGN_IN", Location: "/sign-in",
		Sentence: "Sign in first."}
	ErrSecondFactor = &Problem{Status: http.StatusUnauthorized, Code: "SECOND_FACTOR", Location: "/sign-in/code",
		Sentence: "Give your second factor first."}
	errConfirm = &Problem{Status: http.StatusForbidden, Code: "CONFIRM", Location: "/confirm",
		Sentence: "Confirm that it is you first."}
	ErrNotFound = &Problem{Status: http.StatusNotFound, Code: "NOT_FOUND",
		Sentence: "There is no such page, or it is not yours."}
	ErrSuspended = &Problem{Status: http.StatusForbidden, Code: "SUSPENDED", Input: true,
		Sentence: "The account is suspended, so this cannot be done. You can still read everything, revoke keys, " +
			"end sessions, change the password and second factors, and remove passkeys. " +
			"Contact the operator of this service."}
	errCrossOrigin = &Problem{Status: http.StatusForbidden, Code: "CROSS_ORIGIN",
		Sentence: "The form was sent from another site."}
	errNoCookie = &Problem{Status: http.StatusForbidden, Code: "NO_COOKIE",
		Sentence: "Your browser sent no cookie with the form, so it does not keep those of this site. " +
			"Allow cookies for this site in the settings of the browser, then open the page again."}
	errFormToken = &Problem{Status: http.StatusForbidden, Code: "FORM_TOKEN",
		Sentence: "The form is out of date, because you have signed in or out since. Load the page again; " +
			"a program sends the header X-Form-Token with the value that GET returned."}
	errInternal = &Problem{Status: http.StatusInternalServerError, Code: "INTERNAL_ERROR",
		Sentence: "The page failed because of a fault in the service. " +
			"Try again; if it persists, contact the operator."}
)

// InputProblem returns a problem with a field of a form.
func InputProblem(field, sentence string) *Problem {
	return &Problem{Status: http.StatusUnprocessableEntity, Code: "INVALID_INPUT", Sentence: sentence, Field: field,
		Input: true}
}

// known has the problems of errors that have a sentence for people. A problem without a sentence has the error's.
var known = []struct {
	problem Problem
	then    string // what to do, after the error's sentence
	errors  []error
}{
	{*ErrNotFound, "", []error{book.ErrNoKey, book.ErrNoAccount, book.ErrNoPolicy, identity.ErrNoSession,
		identity.ErrNoPasskey, identity.ErrNoLinked}},
	{*ErrSuspended, "", []error{book.ErrSuspended}},
	{Problem{Status: http.StatusServiceUnavailable, Code: "BUSY", Input: true, Wait: time.Second}, "",
		[]error{identity.ErrBusy}},
	{Problem{Status: http.StatusServiceUnavailable, Code: "UNAVAILABLE", Wait: time.Second,
		Sentence: "The database does not respond at the moment. Try again shortly."}, "",
		[]error{store.ErrUnavailable}},
	// People can mend these on the same page.
	{Problem{Status: http.StatusUnprocessableEntity, Code: "REFUSED", Input: true}, "", []error{
		identity.ErrWrongPassword, identity.ErrLinkUsed, identity.ErrChanged, identity.ErrWrongCode,
		identity.ErrChallenge, identity.ErrPasskey, identity.ErrClonedKey, identity.ErrMorePasskey,
		identity.ErrMoreLinked, identity.ErrNoPasskeys}},
	{Problem{Status: http.StatusServiceUnavailable, Code: "PROVIDER_UNAVAILABLE", Wait: 5 * time.Second},
		" Sign in another way, or try again in a few seconds.", []error{openid.ErrUnavailable}},
	{Problem{Status: http.StatusForbidden, Code: "PROVIDER_REFUSED"},
		" Try again, or sign in another way.", []error{openid.ErrRefused}},
	{Problem{Status: http.StatusForbidden, Code: "PROVIDER_NOT_FRESH"},
		" Sign out there, and try again.", []error{openid.ErrNotFresh}},
}

// ProblemOf returns err as a problem. An error that is not known is a fault of the service.
func ProblemOf(err error) *Problem {
	var input *identity.InputError
	var tooMany *identity.TooManyError
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &input):
		return InputProblem(input.Field, input.Sentence)
	case errors.As(err, &tooMany):
		return &Problem{Status: http.StatusTooManyRequests, Code: "TOO_MANY_ATTEMPTS", Input: true, Wait: tooMany.Wait,
			Sentence: "There were too many attempts. Try again in " + words.Wait(tooMany.Wait) + "."}
	}
	for _, k := range known {
		for _, cause := range k.errors {
			if errors.Is(err, cause) {
				found := k.problem
				found.Sentence = cmp.Or(found.Sentence, Sentence(cause)+k.then)
				return &found
			}
		}
	}
	return errInternal
}

// FormProblem returns why the ledger refuses a form as a problem that the sender can mend. The errors that
// pages know, which are not of the form, it returns as they are.
func FormProblem(err error) error {
	if err == nil || ProblemOf(err) != errInternal {
		return err
	}
	return InputProblem("", Sentence(err))
}

// Sentence returns an error's text as a sentence.
func Sentence(err error) string { return result.Sentence(err.Error()) }
