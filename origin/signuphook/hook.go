// Package signuphook decides sign-ups: a system that creates users asks, before it creates a user,
// whether the address may sign up, and gets allow or deny.
//
// The file of --hooks has the hooks (file.go). Each has the format of its caller (format.go), the
// secrets that sign its requests (verify.go), the account that pays (payers.go), and a policy, which
// says which addresses to deny and which only to flag (policy.go).
//
// Requests are signed as Standard Webhooks 1.0.0 describes. The library of that specification, which
// Supabase uses too, checks the signature. Supabase's mailer cannot sign: it sends the secret. origin/api
// has the route, which checks the address and charges for it.
//
// go-json-experiment/json reads the file and the requests: unlike encoding/json it refuses a member
// that occurs twice, so two readers cannot see two different addresses, and it says where an error is.
package signuphook

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/addrspec/addrspec/wasm/host"
)

// A Decision is that of a sign-up.
type Decision string

// Review is to allow a sign-up with a flag.
const (
	Allow  Decision = "allow"
	Review Decision = "review"
	Deny   Decision = "deny"
)

// A Reason is why a sign-up is denied or flagged: that of a verdict without a role or a
// threshold, or one of the hook's own.
type Reason string

// The reasons that no document has.
const (
	NoEmail   Reason = "no_email"  // the user has no address, such as one who signs up by phone
	Invalid   Reason = "invalid"   // the address is not valid
	Address   Reason = "address"   // the document has an entry for the mailbox
	Domain    Reason = "domain"    // the document has an entry for the domain
	Exchange  Reason = "exchange"  // the document has entries for all exchanges of the domain
	Unchecked Reason = "unchecked" // on_error decided
)

// A Verdict is the decision for one sign-up.
type Verdict struct {
	decision   Decision
	reason     Reason // that decided; "" if none did
	Suggestion string // the corrected domain of a typo
}

// Decision returns Allow or Deny.
func (v *Verdict) Decision() Decision {
	if v.decision == Deny {
		return Deny
	}
	return Allow
}

// reasons returns the reason in a list if it led to decision d.
func (v *Verdict) reasons(d Decision) []Reason {
	if v.decision != d {
		return nil
	}
	return []Reason{v.reason}
}

// A Hook is one entry of the file.
type Hook struct {
	Name    string // part of the route
	Account string // the email of the account that pays
	OnError Decision
	Timeout time.Duration // of the check of the address and its MX lookup

	policy *host.Policy
	rules  rules // of the policy
	// exchanges reports whether the policy has exchanges.
	exchanges bool
	noEmail   Decision
	seat      seat
	messages  messages
	verifier  verifier
	limit     *rate.Limiter
}

// Allow takes a token of the hook's rate and reports whether there was one. It is
// called for requests with a valid signature only, so that others cannot use it up.
func (h *Hook) Allow() bool { return h.limit.Allow() }

// NoEmailVerdict is the decision about a user without an address.
func (h *Hook) NoEmailVerdict() Verdict { return Verdict{decision: h.noEmail, reason: NoEmail} }

// UncheckedVerdict is the decision about an address that could not be checked.
func (h *Hook) UncheckedVerdict() Verdict {
	v := Verdict{decision: Review, reason: Unchecked}
	if h.OnError == Deny {
		v.decision = Deny
	}
	return v
}

// A Set is the hooks of one file. It does not change.
type Set struct{ hooks []*Hook }

// Hooks returns the hooks in the order of the file.
func (s *Set) Hooks() []*Hook { return s.hooks }

// Find returns the hook with a name, or nil.
func (s *Set) Find(name string) *Hook {
	for _, h := range s.hooks {
		if h.Name == name {
			return h
		}
	}
	return nil
}

// A Registry has the hooks in use, which a reload replaces. It is safe for concurrent use.
type Registry struct {
	Payers *Payers
	set    atomic.Pointer[Set]
}

// NewRegistry returns a registry with the hooks of a file.
func NewRegistry(s *Set, p *Payers) *Registry {
	r := &Registry{Payers: p}
	r.Replace(s)
	return r
}

// Set returns the hooks in use; a nil registry has none.
func (r *Registry) Set() *Set {
	if r == nil {
		return &Set{}
	}
	return r.set.Load()
}

// Replace puts the hooks of a reloaded file in use.
func (r *Registry) Replace(s *Set) { r.set.Store(s) }
