package mx

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNewInvalidLimits(t *testing.T) {
	server := []string{"127.0.0.1:53"}
	for _, c := range []Config{{MinTTL: -1}, {MaxTTL: -1}, {MaxNegativeTTL: -1}, {FailureTTL: -1}} {
		c.Servers = server
		_, err := New(c)
		require.ErrorContains(t, err, "negative")
	}
	for _, timeout := range []time.Duration{-time.Second, 1} {
		_, err := New(Config{Servers: server, Timeout: timeout})
		require.ErrorContains(t, err, "mx: Timeout is "+timeout.String()+"; give at least 1ms")
	}
	for _, c := range []Config{{Concurrency: maxLookups + 1}, {Concurrency: 4, AccountConcurrency: 5}, {AccountConcurrency: -1}} {
		c.Servers = server
		_, err := New(c)
		require.Error(t, err)
	}
	_, err := New(Config{Servers: server, Concurrency: -1})
	require.ErrorContains(t, err, "mx: Concurrency is -1; give 1 to")
}

func TestAccountConcurrencyDefault(t *testing.T) {
	for slots, perAccount := range map[int]int{1: 1, 3: 1, 4: 1, 8: 2, 256: 64} {
		require.Equal(t, perAccount, Config{Concurrency: slots}.withDefaults().AccountConcurrency)
	}
}
