package mx

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

func TestErrorText(t *testing.T) {
	for reason, want := range map[Reason]string{
		NoReply:      "mx: resolver 192.0.2.53:53 did not reply in time; try again; ",
		NoSlot:       "mx: no lookup slot became free in time; try again; ",
		Rcode:        "mx: resolver 192.0.2.53:53 replied SERVFAIL; try again later; ",
		Malformed:    "mx: resolver 192.0.2.53:53 sent a malformed reply; check what listens at that port, ",
		Lame:         "mx: resolver 192.0.2.53:53 replied with a referral: it does not recurse; set a recursive",
		Loop:         "mx: resolver 192.0.2.53:53 replied with a CNAME chain that loops or is too long; the owner ",
		Unreachable:  "mx: resolver 192.0.2.53:53 is unreachable; check that a resolver listens there, ",
		AccountLimit: "mx: the account has too many lookups waiting; wait for some of them to end",
		GlobalLimit:  "mx: too many lookups wait; try again in a few seconds",
		NotALabel:    "mx: the domain is not in A-label form; convert it first (IDNA2008)",
		Closed:       "mx: the resolver was closed; the process is stopping; ",
		Lying: "mx: resolver 192.0.2.53:53 denies the MX records of every domain of --dns-with-mx; " +
			"it makes mx false where it is true: set a resolver that ",
		Unproven: "mx: resolver 192.0.2.53:53 has not been asked yet for MX records that exist, " +
			"so its denials prove nothing; try again",
	} {
		e := &Error{Reason: reason}
		if reason != NoSlot && (reason < AccountLimit || reason > Closed) {
			e.Server = "192.0.2.53:53"
		}
		if reason == Rcode {
			e.Rcode = dns.RcodeServerFailure
		}
		require.Contains(t, e.Error(), want)
	}
	require.Len(t, reasons, int(Unproven)+1)
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
	_, err := decideMX(m)
	require.ErrorContains(t, err, "replied SERVFAIL (DNSSEC Bogus); ")
	requireError(t, err, Failure, Rcode)
}

func TestItemError(t *testing.T) {
	for err, want := range map[error][2]string{
		&Error{Kind: Timeout, Reason: NoReply}:   {"DNS_TIMEOUT", "DNS lookup timed out for domain mail.example"},
		context.DeadlineExceeded:                 {"DNS_TIMEOUT", "DNS lookup timed out for domain mail.example"},
		&Error{Kind: Failure, Reason: Malformed}: {"DNS_FAILURE", "DNS lookup failed for domain mail.example"},
		errors.New("odd"):                        {"DNS_FAILURE", "DNS lookup failed for domain mail.example"},
	} {
		code, message := ItemError(err, "mail.example")
		require.Equal(t, want, [2]string{code, message})
	}
}
