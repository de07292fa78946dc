package mx

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// Every reason says what is wrong, at which server if one caused it, and what to do.
func TestErrorText(t *testing.T) {
	for reason := NoReply; reason <= Unproven; reason++ {
		require.NotEmpty(t, reasons[reason].what, reason)
		require.NotEmpty(t, reasons[reason].next, reason)
	}
	require.Len(t, reasons, int(Unproven)+1)
	for want, e := range map[string]*Error{
		"mx: resolver 192.0.2.53:53 did not reply in time; try again; ":         {Reason: NoReply, Server: "192.0.2.53:53"},
		"mx: resolver 192.0.2.53:53 replied SERVFAIL; try again later; ":        {Reason: Rcode, Server: "192.0.2.53:53", Rcode: 2},
		"mx: no lookup slot became free in time; try again; ":                   {Reason: NoSlot},
		"mx: too many lookups wait; try again in a few seconds":                 {Reason: GlobalLimit},
		"mx: resolver 192.0.2.53:53 denies the MX records of every domain of -": {Reason: Lying, Server: "192.0.2.53:53"},
	} {
		require.Contains(t, e.Error(), want)
	}
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
