package dashboard

import (
	"errors"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/openid"
)

// refusals are errors of sign-ins that people can mend on the same page.
var refusals = []error{
	identity.ErrWrongPassword, identity.ErrLinkUsed, identity.ErrWrongCode, identity.ErrChallenge, identity.ErrPasskey,
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
