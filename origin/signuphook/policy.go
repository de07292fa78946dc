package signuphook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// rules are the sections of a document, which the module checks, by their names.
type rules map[string]struct {
	Reasons []string `json:"reasons"`
}

func (r rules) uses(reason string) bool {
	return slices.Contains(r["block"].Reasons, reason) || slices.Contains(r["review"].Reasons, reason)
}

// Summary describes the hook's policy in a line.
func (h *Hook) Summary() string {
	return fmt.Sprintf("reasons to deny %v, to flag %v, on error %s",
		h.rules["block"].Reasons, h.rules["review"].Reasons, h.OnError)
}

// A LookUp looks up the exchanges of a domain and, if address, whether it has an address
// record if it has none.
type LookUp func(ctx context.Context, domain string, address bool) (host.Lookup, error)

// A LookupError is why an address cannot be decided about without a lookup that failed.
type LookupError struct{ Err error }

func (e *LookupError) Error() string { return e.Err.Error() }
func (e *LookupError) Unwrap() error { return e.Err }

// Check has the module check the address of a call, and sets its canonical form if the format has a place for it.
func (h *Hook) Check(ctx context.Context, view *host.View, c *Call) (host.Facts, error) {
	facts, err := view.Check(ctx, nil, c.Email, h.seat.flags)
	if err != nil || h.seat.flags&host.Details == 0 {
		return facts, err
	}
	r, err := result.Parse(facts.JSON)
	if err == nil {
		c.Canonical = r.Details.Canonical
	}
	return facts, err
}

// Decide decides about an address, after a lookup if that may change the decision: for exchanges, for
// no_mx and no_mail, and for disposable if the lists have no entry for the domain. If the lookup fails,
// the error is a *LookupError for a policy with exchanges, no_mx or no_mail; for disposable the lists
// decide then.
func (h *Hook) Decide(ctx context.Context, view *host.View, email string, facts *host.Facts, lookUp LookUp) (Verdict, error) {
	s := host.Subject{Facts: facts, Address: email}
	v, err := h.judge(ctx, view, s)
	// Nothing that is looked up comes before an entry for the mailbox or the domain. If the address
	// is denied by a reason already, only an entry for the exchanges changes more than the reason.
	if err != nil || facts.Host == "" || v.reason == Address || v.reason == Domain || v.decision == Deny && !h.exchanges {
		return v, err
	}
	needed := h.exchanges || h.rules.uses("no_mx") || h.rules.uses("no_mail")
	if !needed && (!h.rules.uses("disposable") || facts.Has(host.Classed|host.Typo)) {
		return v, nil
	}
	limited, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	found, err := lookUp(limited, facts.Host, h.rules.uses("no_mail"))
	switch {
	case err != nil && needed:
		return Verdict{}, &LookupError{err}
	case err != nil:
		return v, nil
	}
	if err := view.Resolve(ctx, facts, found); err != nil {
		return Verdict{}, err
	}
	s.Found, s.Exchanges = found.Found(), found.Exchanges
	return h.judge(ctx, view, s)
}

// judge has the module evaluate the policy.
func (h *Hook) judge(ctx context.Context, view *host.View, s host.Subject) (Verdict, error) {
	text, err := view.Verdict(ctx, nil, h.policy, s)
	if err != nil {
		return Verdict{}, err
	}
	found, err := result.SplitVerdict(text)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{decision: Decision(found.Action), reason: Reason(found.Reason)}
	if end := strings.IndexAny(found.Reason, ":>"); end >= 0 { // "role:sales", "gibberish>=0.8"
		v.reason = Reason(found.Reason[:end])
	}
	if found.Action == "block" {
		v.decision = Deny
	}
	if s.Facts.Has(host.Typo) && h.rules.uses("typo") {
		r, err := result.Parse(s.Facts.JSON)
		if err != nil {
			return Verdict{}, err
		}
		v.Suggestion = r.TypoSuggestion
	}
	return v, nil
}
