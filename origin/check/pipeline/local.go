package pipeline

import (
	"cmp"
	"context"

	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// Local checks addresses in this process: with the module, and with MX lookups
// unless Lookups is nil.
type Local struct {
	View    *host.View
	Flags   host.Flags
	Lookups *Lookups
	Policy  *host.Policy // decides about each address; nil for none
}

// Check checks the addresses of records.
func (l *Local) Check(ctx context.Context, records []Record, outcomes []Outcome) error {
	return l.checkInTurn(ctx, turn{}, records, outcomes)
}

// checkInTurn checks the addresses of records. Its lookups begin in their turn.
func (l *Local) checkInTurn(ctx context.Context, turn turn, records []Record, outcomes []Outcome) error {
	facts := make([]host.Facts, len(records))
	if err := l.runModule(ctx, records, facts, outcomes); err != nil {
		return err
	}
	if l.Lookups == nil {
		return l.decide(ctx, facts, outcomes, nil)
	}
	found, err := l.lookup(ctx, turn, facts, outcomes)
	if err != nil {
		return err
	}
	return l.decide(ctx, facts, outcomes, found)
}

// The error of an address that the module does not take.
const (
	codeTooLong    = "INVALID_EMAIL_FORMAT"
	messageTooLong = "The address is longer than 1 MiB, which is the longest input; the longest valid one has 254 bytes."
)

// runModule checks the addresses in bulk: that takes 3 % less processor time than
// one by one.
func (l *Local) runModule(ctx context.Context, records []Record, facts []host.Facts, outcomes []Outcome) error {
	emails, at := addresses(records, outcomes)
	return l.View.CheckMany(ctx, emails, l.Flags, func(n int, f host.Facts) {
		keep(f, &facts[at[n]], &outcomes[at[n]])
	})
}

// addresses returns the addresses that the module takes, and the index of each among
// the records. It sets the outcome of those that are too long.
func addresses(records []Record, outcomes []Outcome) (emails []string, at []int) {
	emails, at = make([]string, 0, len(records)), make([]int, 0, len(records))
	for n := range records {
		switch {
		case records[n].Err != nil:
		case len(records[n].Email) > host.MaxEmail:
			outcomes[n].Code, outcomes[n].Message = codeTooLong, messageTooLong
		default:
			emails, at = append(emails, records[n].Email), append(at, n)
		}
	}
	return emails, at
}

// keep copies what the module said of an address.
func keep(f host.Facts, facts *host.Facts, o *Outcome) {
	*facts = f.Keep(o.JSON[:0])
	r := &facts.Refusal
	o.JSON, o.Flags = facts.JSON, result.FlagsOf(facts)
	o.Refusal = result.Refusal{Code: r.Code, Offset: r.Offset, Section: r.Section, Sentence: r.Sentence}
}

// lookup looks up each distinct domain of the valid addresses, and adds what it
// finds to the outcomes. For a policy that may have the reason no_mail it looks for
// address records too.
func (l *Local) lookup(ctx context.Context, turn turn, facts []host.Facts, outcomes []Outcome) (map[string]lookup, error) {
	found, err := l.Lookups.all(ctx, turn, domainsOf(facts), l.Flags&host.Details != 0 || l.Policy.WantsAddress())
	if err != nil {
		return nil, err
	}
	for n := range facts {
		if !facts[n].Valid {
			continue
		}
		if err := l.resolve(ctx, &outcomes[n], &facts[n], found[facts[n].Host]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// decide adds the verdicts of the policy to the outcomes that have a result. found is by
// domain, nil if nothing was looked up.
func (l *Local) decide(ctx context.Context, facts []host.Facts, outcomes []Outcome, found map[string]lookup) error {
	if l.Policy == nil {
		return nil
	}
	subjects, at := make([]host.Subject, 0, len(facts)), make([]int, 0, len(facts))
	for n := range facts {
		if outcomes[n].JSON != nil && facts[n].JSON != nil {
			subjects, at = append(subjects, host.Subject{Facts: &facts[n], Found: foundFor(found, facts[n].Host)}), append(at, n)
		}
	}
	return l.addVerdicts(ctx, subjects, at, outcomes)
}

// Decide adds the verdicts of the policy to the outcomes of a service. reported has its
// results, with details, nil where there is none. The module is asked for the domains in
// A-label form, which policies name and results do not have.
func (l *Local) Decide(ctx context.Context, reported []*result.Result, outcomes []Outcome) error {
	var emails []string
	var at []int
	for n := range reported {
		if reported[n] != nil {
			emails, at = append(emails, reported[n].Email), append(at, n)
		}
	}
	subjects := make([]host.Subject, len(at))
	err := l.View.CheckMany(ctx, emails, 0, func(n int, f host.Facts) { subjects[n] = reported[at[n]].Subject(f.Host) })
	if err != nil {
		return err
	}
	return l.addVerdicts(ctx, subjects, at, outcomes)
}

// addVerdicts adds the verdict on each subject to the outcome of its index.
func (l *Local) addVerdicts(ctx context.Context, subjects []host.Subject, at []int, outcomes []Outcome) error {
	var wrong error
	err := l.View.Verdicts(ctx, l.Policy, subjects, func(n int, verdict []byte) {
		o := &outcomes[at[n]]
		o.JSON = host.AppendVerdict(o.JSON, verdict)
		var err error
		o.Verdict, err = result.SplitVerdict(verdict)
		wrong = cmp.Or(wrong, err)
	})
	return cmp.Or(err, wrong)
}

// foundFor returns what was found for a domain. It has one where it was looked up.
func foundFor(found map[string]lookup, domain string) host.Found {
	l, lookedUp := found[domain]
	if !lookedUp || domain == "" {
		return 0
	}
	return l.found.Found()
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

// resolve adds the lookup of an address's domain to its outcome.
func (l *Local) resolve(ctx context.Context, o *Outcome, facts *host.Facts, found lookup) error {
	if found.err != nil {
		o.JSON = nil
		o.Code, o.Message = mx.ItemError(found.err, facts.Host)
		return nil
	}
	if err := l.View.Resolve(ctx, facts, found.found); err != nil {
		return err
	}
	o.JSON, o.Flags, o.MX = facts.Result(), result.FlagsOf(facts), MXFalse
	if found.found.MX {
		o.MX = MXTrue
	}
	return nil
}
