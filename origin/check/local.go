package check

import (
	"context"
	"errors"

	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/result"
	"github.com/addrspec/addrspec/wasm/host"
)

// Local checks addresses in this process: with the module, and with MX look-ups
// unless Lookups is nil.
type Local struct {
	View    *host.View
	Flags   host.Flags
	Lookups *Lookups
}

// Check checks the addresses of records.
func (l *Local) Check(ctx context.Context, records []Record, outcomes []Outcome) error {
	facts := make([]host.Facts, len(records))
	for n := range records {
		if records[n].Err != nil {
			continue
		}
		if err := l.runModule(ctx, records[n].Email, &facts[n], &outcomes[n]); err != nil {
			return err
		}
	}
	if l.Lookups == nil {
		return nil
	}
	return l.lookUp(ctx, facts, outcomes)
}

// The error of an address that the module does not take.
const (
	codeTooLong    = "INVALID_EMAIL_FORMAT"
	messageTooLong = "The address is longer than 1 MiB, which is the longest input; the longest valid one has 254 bytes."
)

func (l *Local) runModule(ctx context.Context, email string, facts *host.Facts, o *Outcome) (err error) {
	*facts, err = l.View.Check(ctx, o.JSON[:0], email, l.Flags)
	if errors.Is(err, host.ErrTooLong) {
		o.Code, o.Message = codeTooLong, messageTooLong
		return nil
	}
	if err != nil {
		return err
	}
	r := &facts.Refusal
	o.JSON, o.Flags = facts.JSON, result.Scan(facts)
	o.Refusal = result.Refusal{Code: r.Code, Offset: r.Offset, Section: r.Section, Sentence: r.Sentence}
	return nil
}

// lookUp looks up each distinct domain of the valid addresses, and adds what it
// finds to the outcomes.
func (l *Local) lookUp(ctx context.Context, facts []host.Facts, outcomes []Outcome) error {
	found, err := l.Lookups.All(ctx, domainsOf(facts))
	if err != nil {
		return err
	}
	for n := range facts {
		if facts[n].Valid {
			setMX(&outcomes[n], &facts[n], found[facts[n].Host])
		}
	}
	return nil
}

// domainsOf returns the distinct domains of valid addresses, without those of
// address literals, which have none.
func domainsOf(facts []host.Facts) (domains []string) {
	seen := map[string]bool{"": true}
	for n := range facts {
		if name := facts[n].Host; !seen[name] {
			seen[name] = true
			domains = append(domains, name)
		}
	}
	return domains
}

// setMX adds the look-up of an address's domain to its outcome.
func setMX(o *Outcome, facts *host.Facts, l lookup) {
	switch {
	case l.err != nil:
		o.JSON = nil
		o.Code, o.Message = api.ItemError(l.err, facts.Host)
	case l.mx:
		o.JSON, o.MX = facts.AppendResult(make([]byte, 0, len(facts.JSON)), true), MXTrue
	default:
		o.MX = MXFalse
	}
}
