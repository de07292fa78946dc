package check

import (
	"context"
	"errors"

	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/result"
	"github.com/addrspec/addrspec/wasm/host"
)

// Local checks addresses in this process.
type Local struct {
	View     *host.View
	Flags    host.Flags
	Resolver *mx.Resolver // nil to look nothing up
}

// Check runs the module on the addresses and looks their domains up.
func (l *Local) Check(ctx context.Context, records []Record, outcomes []Outcome) error {
	for n := range records {
		if records[n].Err != nil {
			continue
		}
		if err := l.check(ctx, records[n].Email, &outcomes[n]); err != nil {
			return err
		}
	}
	return nil
}

// codeTooLong is the code of an address beyond the module's limit.
const codeTooLong = "INVALID_EMAIL_FORMAT"

func (l *Local) check(ctx context.Context, email string, o *Outcome) error {
	facts, err := l.View.Check(ctx, nil, email, l.Flags)
	if errors.Is(err, host.ErrTooLong) {
		o.Code, o.Message = codeTooLong, err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	o.JSON, o.Flags = facts.JSON, result.Scan(&facts)
	o.Refusal = result.Refusal{Code: facts.Refusal.Code, Offset: facts.Refusal.Offset, Section: facts.Refusal.Section, Sentence: facts.Refusal.Sentence}
	return nil
}
