package dashboard

import (
	"errors"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// limit reads a number of a form; nil for none.
func (v *visit) limit(field string) (*book.Limit, error) {
	text := strings.TrimSpace(v.form.Get(field))
	if text == "" {
		return nil, nil
	}
	limit, err := book.ParseLimit(text)
	if err != nil {
		return nil, inputProblem(field, sentence(err))
	}
	return &limit, nil
}

// limitField returns a limit as the field of a form.
func limitField(l *book.Limit) string {
	if l == nil {
		return ""
	}
	return l.String()
}

// done returns to the page of the form with a message.
func (v *visit) done(message string) *outcome { return redirect(v.r.URL.Path, message) }

// formProblem returns why the ledger refuses a form as a problem that the sender can mend. The other
// errors, which are not of the form, it returns as they are.
func formProblem(err error) error {
	var p *problem
	for _, other := range []error{book.ErrSuspended, book.ErrNoKey, book.ErrNoAccount, store.ErrUnavailable} {
		if errors.Is(err, other) {
			return err
		}
	}
	if err == nil || errors.As(err, &p) {
		return err
	}
	return inputProblem("", sentence(err))
}
