package signuphook

import (
	"errors"
	"fmt"
	"slices"

	"github.com/addrspec/addrspec/wasm/result"
)

// A Decision is that of a sign-up.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
)

// A Reason is a fact about an address that may deny a sign-up or flag it.
type Reason string

// The reasons, in the order in which they are reported; the first that denies has the
// message.
const (
	NoEmail    Reason = "no_email" // the user has no address, such as one who signs up by phone
	Invalid    Reason = "invalid"
	Disposable Reason = "disposable"
	NoMX       Reason = "no_mx" // the domain publishes no MX records
	Typo       Reason = "typo"  // the domain is probably mistyped
	Gibberish  Reason = "gibberish"
	Relay      Reason = "relay"
	Role       Reason = "role"
	Public     Reason = "public"
	Alias      Reason = "alias"

	// Unchecked is the reason of a decision by on_error. A policy cannot have it.
	Unchecked Reason = "unchecked"
)

// policyReasons are the reasons that a policy may have.
var policyReasons = []Reason{NoEmail, Invalid, Disposable, NoMX, Typo, Gibberish, Relay, Role, Public, Alias}

// A Policy says which reasons deny a sign-up and which only flag it.
type Policy struct {
	deny, flag map[Reason]bool
	score      *float64 // gibberish begins above it; nil for the model's own threshold
}

type policyEntry struct {
	Deny           []Reason `json:"deny"`
	Flag           []Reason `json:"flag"`
	GibberishScore *float64 `json:"gibberish_score"`
}

func (e *policyEntry) readPolicy(h *Hook, _ string) (err error) {
	h.Policy.score = e.GibberishScore
	if s := e.GibberishScore; s != nil && (*s < 0 || *s >= 1) {
		return fmt.Errorf(`"gibberish_score" is %v: it must be from 0 to below 1; an address whose score is above it is gibberish`, *s)
	}
	if h.Policy.deny, err = reasonSet("deny", e.Deny); err != nil {
		return err
	}
	if h.Policy.flag, err = reasonSet("flag", e.Flag); err != nil {
		return err
	}
	for _, r := range e.Flag {
		if h.Policy.deny[r] {
			return fmt.Errorf("%q is both in \"deny\" and in \"flag\": leave it in one", r)
		}
	}
	return h.Policy.check()
}

// check refuses policies that cannot do what they say.
func (p *Policy) check() error {
	if len(p.deny)+len(p.flag) == 0 {
		return errors.New(`"deny" and "flag" are both empty: such a hook decides nothing; a usual choice is "deny": ["invalid", "disposable"], "flag": ["no_mx", "typo"]`)
	}
	if p.score != nil && !p.uses(Gibberish) {
		return errors.New(`"gibberish_score" has no effect: add "gibberish" to "deny" or "flag"`)
	}
	return nil
}

func reasonSet(member string, list []Reason) (map[Reason]bool, error) {
	set := map[Reason]bool{}
	for n, r := range list {
		if !slices.Contains(policyReasons, r) {
			return nil, fmt.Errorf("%q, element %d: %.40q is not a reason; the reasons are %v", member, n+1, string(r), policyReasons)
		}
		if set[r] {
			return nil, fmt.Errorf("%q has %q twice", member, r)
		}
		set[r] = true
	}
	return set, nil
}

func (p *Policy) uses(r Reason) bool { return p.deny[r] || p.flag[r] }

// NeedsLookup reports whether the exchanges of an address may change the decision: for
// no_mx, and for disposable if the lists have no entry for the domain. If another reason
// denies it already, they change nothing but the list of reasons.
func (p *Policy) NeedsLookup(unlisted bool) bool {
	return p.NeedsMX() || unlisted && p.uses(Disposable)
}

// NeedsMX reports whether the policy cannot decide if the lookup fails. For disposable the
// lists decide then.
func (p *Policy) NeedsMX() bool { return p.uses(NoMX) }

// A Verdict is the decision for one sign-up.
type Verdict struct {
	Decision   Decision
	Reasons    []Reason // those that deny
	Flags      []Reason // those that only flag
	Suggestion string   // the corrected domain of a typo
}

// Judge decides about an address by its result.
func (p *Policy) Judge(r *result.Result) Verdict {
	v := p.judge(p.found(r))
	if p.uses(Typo) {
		v.Suggestion = r.TypoSuggestion
	}
	return v
}

// JudgeNoEmail decides about a user without an address.
func (p *Policy) JudgeNoEmail() Verdict { return p.judge(map[Reason]bool{NoEmail: true}) }

// found returns the reasons that a result gives. An address that is not valid has no
// other.
func (p *Policy) found(r *result.Result) map[Reason]bool {
	if !r.Valid {
		return map[Reason]bool{Invalid: true}
	}
	gibberish := r.Gibberish
	if p.score != nil {
		gibberish = r.GibberishScore > *p.score
	}
	return map[Reason]bool{Disposable: r.Disposable, NoMX: !r.MX, Typo: r.Typo, Gibberish: gibberish,
		Relay: r.Relay, Role: r.Role != "", Public: r.Public, Alias: r.Alias}
}

func (p *Policy) judge(found map[Reason]bool) Verdict {
	v := Verdict{Decision: Allow}
	for _, r := range policyReasons {
		switch {
		case !found[r]:
		case p.deny[r]:
			v.Decision, v.Reasons = Deny, append(v.Reasons, r)
		case p.flag[r]:
			v.Flags = append(v.Flags, r)
		}
	}
	return v
}

// UncheckedVerdict is the decision about an address that could not be checked.
func (h *Hook) UncheckedVerdict() Verdict {
	if h.OnError == Deny {
		return Verdict{Decision: Deny, Reasons: []Reason{Unchecked}}
	}
	return Verdict{Decision: Allow, Flags: []Reason{Unchecked}}
}

// Summary describes the hook's policy in a line.
func (h *Hook) Summary() string {
	return fmt.Sprintf("denies %v, flags %v, on error %s", h.Policy.list(h.Policy.deny), h.Policy.list(h.Policy.flag), h.OnError)
}

// list returns the reasons of a set in their order.
func (p *Policy) list(set map[Reason]bool) (list []Reason) {
	for _, r := range policyReasons {
		if set[r] {
			list = append(list, r)
		}
	}
	return list
}
