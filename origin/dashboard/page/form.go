package page

import (
	"strings"

	"github.com/addrspec/addrspec/origin/ledger/book"
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

// FormProblem returns why the ledger refuses a form as a problem that the sender can mend. The errors that
// pages know, which are not of the form, it returns as they are.
func FormProblem(err error) error {
	if err == nil || ProblemOf(err) != errInternal {
		return err
	}
	return InputProblem("", Sentence(err))
}
