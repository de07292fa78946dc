package page

import (
	"errors"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Limit reads a number of a form; nil for none.
func (v *Visit) Limit(field string) (*book.Limit, error) {
	text := strings.TrimSpace(v.Form.Get(field))
	if text == "" {
		return nil, nil
	}
	limit, err := book.ParseLimit(text)
	if err != nil {
		return nil, InputProblem(field, Sentence(err))
	}
	return &limit, nil
}

// LimitField returns a limit as the field of a form.
func LimitField(l *book.Limit) string {
	if l == nil {
		return ""
	}
	return l.String()
}

// Done returns to the page of the form with a message.
func (v *Visit) Done(message string) *Outcome { return Redirect(v.Request.URL.Path, message) }

// FormProblem returns why the ledger refuses a form as a problem that the sender can mend. The other
// errors, which are not of the form, it returns as they are.
func FormProblem(err error) error {
	var p *Problem
	for _, other := range []error{book.ErrSuspended, book.ErrNoKey, book.ErrNoAccount, store.ErrUnavailable} {
		if errors.Is(err, other) {
			return err
		}
	}
	if err == nil || errors.As(err, &p) {
		return err
	}
	return InputProblem("", Sentence(err))
}
