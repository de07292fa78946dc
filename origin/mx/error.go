package mx

import (
	"fmt"

	"github.com/miekg/dns"
)

// Kind is what a failed look-up is to the caller.
type Kind uint8

const (
	Timeout Kind = iota + 1 // no answer in time
	Failure                 // an answer that says nothing, or no way to get one
	Limited                 // not asked: as many look-ups wait as may
)

// String returns the kind in a word.
func (k Kind) String() string {
	return [...]string{Timeout: "timeout", Failure: "failure", Limited: "limited"}[k]
}

// Reason is why a look-up failed.
type Reason uint8

const (
	NoAnswer     Reason = iota + 1 // Timeout: the resolver was silent
	NoSlot                         // Timeout: no look-up slot came free
	Rcode                          // Failure: SERVFAIL, REFUSED and the like
	Malformed                      // Failure: an answer that does not decode
	Lame                           // Failure: a referral in place of an answer
	Loop                           // Failure: CNAMEs without end
	Unreachable                    // Failure: the network or host refused
	AccountLimit                   // Limited: by the account
	GlobalLimit                    // Limited: by all accounts together
	NotALabel                      // Failure: the caller passed a U-label
	Closed                         // Failure: the resolver was closed
)

// Error is a look-up that found out nothing. It never has the domain, which
// is part of somebody's address: it may be logged as it is.
type Error struct {
	Kind   Kind
	Reason Reason
	Server string // host:port; empty where no server is to blame
	Rcode  int    // for the reason Rcode
	Detail string // for the reason Rcode: the extended error (RFC 8914) in words; may be empty
	Cause  error  // for the reason Unreachable: what the system says; may be nil
}

// Error says what is wrong, where, and what to do.
func (e *Error) Error() string {
	if e.Server == "" {
		return "mx: " + e.describe() + "; " + nextSteps[e.Reason]
	}
	return fmt.Sprintf("mx: resolver %s %s; %s", e.Server, e.describe(), nextSteps[e.Reason])
}

func (e *Error) describe() string {
	what := reasonTexts[e.Reason]
	if e.Reason == Rcode {
		what += rcodeName(e.Rcode)
	}
	if e.Detail != "" {
		what += " (" + e.Detail + ")"
	}
	if e.Cause != nil {
		what += " (" + e.Cause.Error() + ")"
	}
	return what
}

// Unwrap returns what the system said.
func (e *Error) Unwrap() error { return e.Cause }

// from names the server to blame, where there is an error.
func (e *Error) withServer(s *server) *Error {
	if e != nil {
		e.Server = s.address
	}
	return e
}

func rcodeName(rcode int) string {
	if name, ok := dns.RcodeToString[rcode]; ok {
		return name
	}
	return fmt.Sprintf("RCODE%d", rcode)
}

var reasonTexts = [...]string{
	NoAnswer:     "gave no answer in time",
	NoSlot:       "no look-up slot came free in time",
	Rcode:        "answered ",
	Malformed:    "gave a malformed answer",
	Lame:         "answered with a referral, as a server that does not recurse",
	Loop:         "answered with a CNAME chain that is a loop or too long",
	Unreachable:  "is unreachable",
	AccountLimit: "the account has as many look-ups waiting as it may",
	GlobalLimit:  "as many look-ups wait as may",
	NotALabel:    "the domain is not in A-label form",
	Closed:       "the resolver was closed",
}

var nextSteps = [...]string{
	NoAnswer:     "try again; if it persists, check the resolver's load and its way out, or name another with --dns",
	NoSlot:       "try again; if it persists, the resolver is too slow for this load",
	Rcode:        "try again later; if it persists for every domain, check that the resolver recurses for this host",
	Malformed:    "check what answers at that port, or name another resolver with --dns",
	Lame:         "name a recursive resolver with --dns",
	Loop:         "the owner of the domain has to mend it",
	Unreachable:  "check that a resolver listens there, or name another with --dns",
	AccountLimit: "wait for some of them to end",
	GlobalLimit:  "try again in a few seconds",
	NotALabel:    "convert it first (IDNA2008)",
	Closed:       "the process is stopping; try again elsewhere",
}

// worse keeps the more informative of two errors: the first that is no timeout.
func moreInformative(a, b *Error) *Error {
	if a == nil || b != nil && a.Kind == Timeout && b.Kind == Failure {
		return b
	}
	return a
}
