package page

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/identity/openid"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// An error that a page returns becomes a status, a code and a sentence; a form is refused for an error that no
// page knows, but not for one that it knows.
func TestProblemsOfErrors(t *testing.T) {
	for err, want := range map[error]string{
		book.ErrNoPolicy:       "404 NOT_FOUND There is no such page, or it is not yours.",
		store.ErrUnavailable:   "503 UNAVAILABLE The database does not respond at the moment. Try again shortly.",
		identity.ErrWrongCode:  "422 REFUSED " + Sentence(identity.ErrWrongCode),
		openid.ErrRefused:      "403 PROVIDER_REFUSED " + Sentence(openid.ErrRefused) + " Try again, or sign in another way.",
		errors.New("a secret"): "500 INTERNAL_ERROR " + errInternal.Sentence,
	} {
		p := ProblemOf(fmt.Errorf("read: %w", err))
		require.Equal(t, want, fmt.Sprint(p.Status, " ", p.Code, " ", p.Sentence))
		require.Equal(t, p.Status == http.StatusInternalServerError, FormProblem(err) != err)
	}
	require.Equal(t, InputProblem("", "It is too long."), FormProblem(errors.New("it is too long")))
}
