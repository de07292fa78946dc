package mx

import (
	"syscall"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

func TestErrorText(t *testing.T) {
	for reason, want := range map[Reason]string{
		NoAnswer:     "mx: resolver 192.0.2.53:53 gave no answer in time; try again; ",
		NoSlot:       "mx: no look-up slot became free in time; try again; ",
		Rcode:        "mx: resolver 192.0.2.53:53 answered SERVFAIL; try again later; ",
		Malformed:    "mx: resolver 192.0.2.53:53 gave a malformed answer; check what answers at that port, ",
		Lame:         "mx: resolver 192.0.2.53:53 answered with a referral: it does not recurse; set a recursive",
		Loop:         "mx: resolver 192.0.2.53:53 answered with a CNAME chain that loops or is too long; the owner ",
		Unreachable:  "mx: resolver 192.0.2.53:53 is unreachable; check that a resolver listens there, ",
		AccountLimit: "mx: the account has too many look-ups waiting; wait for some of them to end",
		GlobalLimit:  "mx: too many look-ups wait; try again in a few seconds",
		NotALabel:    "mx: the domain is not in A-label form; convert it first (IDNA2008)",
		Closed:       "mx: the resolver was closed; the process is stopping; ",
	} {
		e := &Error{Reason: reason}
		if reason != NoSlot && reason < AccountLimit {
			e.Server = "192.0.2.53:53"
		}
		if reason == Rcode {
			e.Rcode = dns.RcodeServerFailure
		}
		require.Contains(t, e.Error(), want)
	}
	require.Len(t, reasonTexts, int(Closed)+1)
	require.Len(t, nextSteps, int(Closed)+1)
}

func TestErrorCause(t *testing.T) {
	e := &Error{Reason: Unreachable, Server: "192.0.2.53:53", Cause: syscall.EMFILE}
	require.ErrorContains(t, e, "is unreachable (too many open files); ")
	require.ErrorIs(t, e, syscall.EMFILE)
	require.ErrorContains(t, &Error{Reason: Rcode, Rcode: 4095}, "RCODE4095")
}

// Of an extended error (RFC 8914) only the name is shown.
func TestExtendedError(t *testing.T) {
	m := message(dns.RcodeServerFailure, nil, nil).SetEdns0(udpPayload, false)
	m.IsEdns0().Option = append(m.IsEdns0().Option,
		&dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeDNSBogus, ExtraText: "validation failure <example.test. MX IN>"})
	_, err := decide(m, "example.test.")
	require.ErrorContains(t, err, "answered SERVFAIL (DNSSEC Bogus); ")
	requireError(t, err, Failure, Rcode)
}
