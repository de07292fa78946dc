package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// Local checks addresses in this process, with the module and with MX lookups.
type Local struct {
	View    *host.View
	Flags   host.Flags
	Lookups *Lookups     // nil for none
	Policy  *host.Policy // decides about each address; nil for none
}

// Check checks the addresses of records.
func (l *Local) Check(ctx context.Context, records []Record, outcomes []Outcome) error {
	facts, err := l.runModule(ctx, records, outcomes)
	if err != nil {
		return err
	}
	var found map[string]*lookup // by domain
	if l.Lookups != nil {
		// For a policy that may have the reason no_mail it looks for address records too.
		found, err = l.Lookups.all(ctx, facts, l.Flags&host.Details != 0 || l.Policy.WantsAddress())
		if err != nil {
			return err
		}
	}
	subjects, at := make([]host.Subject, 0, len(facts)), make([]int, 0, len(facts))
	for n := range facts {
		f, o, of := &facts[n], &outcomes[n], found[facts[n].Host]
		s := host.Subject{Facts: f, Address: records[n].Email}
		switch {
		case f.JSON == nil:
			continue
		case !f.Valid || of == nil:
		case of.err != nil:
			o.JSON = nil
			o.Code, o.Message = mx.ItemError(of.err, f.Host)
			continue
		default:
			if err := l.View.Resolve(ctx, f, of.found); err != nil {
				return err
			}
			o.JSON, o.Flags, o.NoMX = f.Result(), result.FlagsOf(f), !of.found.MX
			s.Found, s.Exchanges = of.found.Found(), of.found.Exchanges
		}
		subjects, at = append(subjects, s), append(at, n)
	}
	return l.addVerdicts(ctx, subjects, at, outcomes)
}

// runModule checks the addresses in bulk, which takes 3 % less processor time than one by
// one. Its facts are zero where there is no address, or one that the module does not take.
func (l *Local) runModule(ctx context.Context, records []Record, outcomes []Outcome) ([]host.Facts, error) {
	emails, facts := make([]string, len(records)), make([]host.Facts, len(records))
	for n, r := range records {
		if len(r.Email) <= host.MaxEmail {
			emails[n] = r.Email
		} else if r.Err == nil {
			outcomes[n].Code = "INVALID_EMAIL_FORMAT"
			outcomes[n].Message = "The address is longer than 1 MiB, which is the longest input; " +
				"the longest valid one has 254 bytes."
		}
	}
	err := l.View.CheckMany(ctx, emails, l.Flags, func(n int, f host.Facts) {
		o := &outcomes[n]
		if records[n].Err == nil && o.Code == "" {
			f = f.Keep(nil)
			facts[n], o.JSON, o.Flags = f, f.JSON, result.FlagsOf(&f)
		}
	})
	if err != nil {
		return nil, err
	}
	for n := range facts {
		if facts[n].JSON == nil || facts[n].Valid {
			continue
		}
		refused, err := l.View.Check(ctx, nil, emails[n], host.Details) // only details have the suggestion
		if err != nil {
			return nil, err
		}
		parsed, err := result.Parse(refused.JSON)
		if err != nil {
			return nil, err
		}
		outcomes[n].Refusal = *parsed.Details.Refusal
	}
	return facts, nil
}

// NewDecider returns what decides about the outcomes of a service, by a policy that the service does not
// have. The results of a service do not name all exchanges, so entries for them would be skipped.
func NewDecider(view *host.View, policy *host.Policy) (*Local, error) {
	if policy.HasExchanges() {
		return nil, errors.New("it has exchanges, which the results of a service do not name; " +
			"save the policy in the account and give its name")
	}
	return &Local{View: view, Policy: policy}, nil
}

// Decide adds the verdicts of the policy to the outcomes of a service. The module is asked for the domains in A-label
// form, which policies name and results do not have.
func (l *Local) Decide(ctx context.Context, outcomes []Outcome) error {
	emails, at := make([]string, 0, len(outcomes)), make([]int, 0, len(outcomes))
	for n := range outcomes {
		if reported := outcomes[n].Reported; reported != nil {
			emails, at = append(emails, reported.Email), append(at, n)
		}
	}
	subjects := make([]host.Subject, len(at))
	err := l.View.CheckMany(ctx, emails, 0, func(n int, f host.Facts) {
		subjects[n] = outcomes[at[n]].Reported.Subject(f.Host)
	})
	if err != nil {
		return err
	}
	return l.addVerdicts(ctx, subjects, at, outcomes)
}

func (l *Local) addVerdicts(ctx context.Context, subjects []host.Subject, at []int, outcomes []Outcome) error {
	if l.Policy == nil {
		return nil
	}
	var wrong error
	err := l.View.Verdicts(ctx, l.Policy, subjects, func(n int, verdict []byte) {
		o := &outcomes[at[n]]
		o.JSON = host.AppendVerdict(o.JSON, verdict)
		v, err := result.SplitVerdict(verdict)
		o.Verdict, wrong = v, cmp.Or(wrong, err)
	})
	return cmp.Or(err, wrong)
}

// Lookups looks up MX records for one run. It is safe for concurrent use: its callers
// share a number of lookups in flight, and one for each domain.
type Lookups struct {
	resolver *mx.Resolver
	slots    *semaphore.Weighted // of lookups in flight
	turn     sync.Mutex          // of the one caller whose lookups begin

	mu     sync.Mutex
	silent int   // lookups since the last reply
	ended  error // why there can be no further lookup; stays
}

// ResolverConfig returns the settings of a resolver for one run, of one user. Results and
// failures count for longer than most runs, whatever their TTL: each domain is looked up
// once, also one that fails, which takes the longest time.
func ResolverConfig(servers []string, timeout time.Duration, workers int) mx.Config {
	const oneRun = 24 * time.Hour
	return mx.Config{Servers: servers, Timeout: timeout, Concurrency: workers, AccountConcurrency: workers,
		MinTTL: oneRun, MaxTTL: oneRun, MaxNegativeTTL: oneRun, FailureTTL: oneRun}
}

// NewLookups returns Lookups with at most workers lookups at a time.
func NewLookups(resolver *mx.Resolver, workers int) *Lookups {
	return &Lookups{resolver: resolver, slots: semaphore.NewWeighted(int64(workers))}
}

// A lookup is what was found for one domain. That of an address literal is zero: no MX.
type lookup struct {
	found host.Lookup
	err   error
}

// all looks up each distinct domain of facts, for details with the address records to which
// its mail goes. All lookups of earlier callers begin before: a run that is interrupted has
// written most of what it found out. The error is that of ctx, or ErrOutage.
func (l *Lookups) all(ctx context.Context, facts []host.Facts, details bool) (map[string]*lookup, error) {
	peek, lookUp := l.resolver.Peek, l.resolver.Lookup
	if details {
		peek, lookUp = l.resolver.PeekAddress, l.resolver.LookupAddress
	}
	l.turn.Lock()
	found := map[string]*lookup{"": {}}
	var group sync.WaitGroup
	for n := range facts {
		domain := facts[n].Host
		if found[domain] != nil {
			continue
		}
		to := new(lookup)
		found[domain] = to
		if r, known, err := peek(domain); known {
			*to = lookup{r.Lookup(), err}
			continue
		}
		if l.outage() != nil || l.slots.Acquire(ctx, 1) != nil {
			break
		}
		group.Go(func() {
			defer l.slots.Release(1)
			r, err := lookUp(ctx, 0, domain)
			*to = lookup{r.Lookup(), err}
			l.note(ctx, err)
		})
	}
	l.turn.Unlock()
	group.Wait()
	return found, cmp.Or(ctx.Err(), l.outage())
}

// ErrOutage ends a run whose resolvers no longer reply: what follows would fail too, and slowly.
var ErrOutage = errors.New("the resolvers no longer respond, so MX records cannot be looked up; " +
	"give others with --dns HOST:PORT, or leave MX out with --offline")

// note takes the error of a lookup, or nil. One of the domain, such as SERVFAIL, is a reply.
func (l *Lookups) note(ctx context.Context, err error) {
	const mostSilent = 100 // in a row, before the resolvers are asked for the root: lists have dead domains in a row
	failure, _ := errors.AsType[*mx.Error](err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if failure == nil || failure.Reason != mx.NoReply && failure.Reason != mx.Unreachable {
		l.silent = 0
		return
	}
	l.silent++
	if l.silent < mostSilent || l.ended != nil {
		return
	}
	l.silent = 0
	if err := l.resolver.Probe(ctx); err != nil && ctx.Err() == nil {
		l.ended = fmt.Errorf("%w: %w", ErrOutage, err)
	}
}

func (l *Lookups) outage() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}
