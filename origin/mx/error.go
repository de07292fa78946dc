package mx

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/miekg/dns"
)

// Kind is the class of a lookup's error.
type Kind uint8

const (
	Timeout Kind = iota + 1 // no reply in time
	Failure                 // a reply that proves nothing, or no reply possible
	Limited                 // not queried: too many lookups wait
)

// Reason is the cause of a lookup's error.
type Reason uint8

const (
	NoReply      Reason = iota + 1 // Timeout: no reply from the resolver
	NoSlot                         // Timeout: no lookup slot became free
	Rcode                          // Failure: SERVFAIL, REFUSED and others
	Malformed                      // Failure: the reply does not decode
	Lame                           // Failure: a referral instead of records
	Loop                           // Failure: a CNAME chain that loops or is too long
	Unreachable                    // Failure: the network or host refused
	AccountLimit                   // Limited: too many of this account wait
	GlobalLimit                    // Limited: too many of all accounts wait
	NotALabel                      // Failure: the caller passed a U-label
	Closed                         // Failure: the resolver was closed
	Lying                          // Failure: it denies MX records that exist; see Config.Strict
	Unproven                       // Failure: it denies MX records, and may lie; see Config.Strict
)

// Error is the error of a lookup. It never contains the domain, which is part
// of an email address, so it may be logged.
type Error struct {
	Kind   Kind
	Reason Reason
	Server string // host:port; empty if no server caused it
	Rcode  int    // for reason Rcode
	Detail string // for reason Rcode: name of the extended error (RFC 8914); may be empty
	Cause  error  // for reason Unreachable: the system's error; may be nil
}

// Error returns what is wrong, at which server, and what to do.
func (e *Error) Error() string {
	what := reasons[e.Reason].what
	if e.Server != "" {
		what = "resolver " + e.Server + " " + what
	}
	if e.Reason == Rcode {
		what += cmp.Or(dns.RcodeToString[e.Rcode], fmt.Sprintf("RCODE%d", e.Rcode))
	}
	if e.Detail != "" {
		what += " (" + e.Detail + ")"
	}
	if e.Cause != nil {
		what += " (" + e.Cause.Error() + ")"
	}
	return "mx: " + what + "; " + reasons[e.Reason].next
}

// Unwrap returns the system's error.
func (e *Error) Unwrap() error { return e.Cause }

// reasons has what is wrong, after the name of a server, and what to do.
var reasons = [...]struct{ what, next string }{
	NoReply:      {"did not reply in time", "try again; if it persists, check the resolver's load and its network, or set another with --dns"},
	NoSlot:       {"no lookup slot became free in time", "try again; if it persists, the resolver is too slow for this load"},
	Rcode:        {"replied ", "try again later; if it persists for every domain, check that the resolver recurses for this host"},
	Malformed:    {"sent a malformed reply", "check what listens at that port, or set another resolver with --dns"},
	Lame:         {"replied with a referral: it does not recurse", "set a recursive resolver with --dns"},
	Loop:         {"replied with a CNAME chain that loops or is too long", "the owner of the domain has to fix it"},
	Unreachable:  {"is unreachable", "check that a resolver listens there, or set another with --dns"},
	AccountLimit: {"the account has too many lookups waiting", "wait for some of them to end"},
	GlobalLimit:  {"too many lookups wait", "try again in a few seconds"},
	NotALabel:    {"the domain is not in A-label form", "convert it first (IDNA2008)"},
	Closed:       {"the resolver was closed", "the process is stopping; try again elsewhere"},
	Lying: {"denies the MX records of every domain of --dns-with-mx",
		"it makes mx false where it is true: set a resolver that resolves the Internet with --dns; in a closed network, name domains that have MX records there"},
	Unproven: {"has not been asked yet for MX records that exist, so its denials prove nothing", "try again in a few seconds"},
}

// ItemError returns the code and the message for an address whose lookup failed: in
// the item of a batch, and in the results of the command check.
func ItemError(err error, domain string) (code, message string) {
	if IsTimeout(err) {
		return "DNS_TIMEOUT", textTimedOut(domain)
	}
	return "DNS_FAILURE", textLookupFailed(domain)
}

// IsTimeout reports whether a lookup timed out rather than failed.
func IsTimeout(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return errors.Is(err, context.DeadlineExceeded) || ok && failure.Kind == Timeout
}
