package mx

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNewInvalidSettings(t *testing.T) {
	for _, test := range []struct {
		want string
		c    Config
	}{
		{"negative", Config{MinTTL: -1}},
		{"negative", Config{MaxTTL: -1}},
		{"negative", Config{MaxNegativeTTL: -1}},
		{"negative", Config{FailureTTL: -1}},
		{"mx: Timeout is -1s; give at least 1ms", Config{Timeout: -time.Second}},
		{"mx: Timeout is 1ns; give at least 1ms", Config{Timeout: 1}},
		{"mx: Concurrency is -1; give 1 to", Config{Concurrency: -1}},
		{"mx: Concurrency is 1048577; give 1 to", Config{Concurrency: maxLookups + 1}},
		{"mx: AccountConcurrency is 5; give 1 to 4", Config{Concurrency: 4, AccountConcurrency: 5}},
		{"mx: AccountConcurrency is -1; give 1 to", Config{AccountConcurrency: -1}},
		{`--dns-with-mx "" is not`, Config{WithMX: []string{""}}},
		{`--dns-with-mx "bücher.example" is not`, Config{WithMX: []string{"bücher.example"}}},
		{`--dns-with-mx "a..b" is not`, Config{WithMX: []string{"example.test", "a..b"}}},
		{"--dns-with-mx has 9 domains; give 8 at most", Config{WithMX: make([]string, maxWithMX+1)}},
		{"8 at most", Config{Servers: make([]string, maxServers+1)}},
	} {
		if test.c.Servers == nil {
			test.c.Servers = []string{"127.0.0.1:53"}
		}
		_, err := New(test.c)
		require.ErrorContains(t, err, test.want)
	}
}

func TestAccountConcurrencyDefault(t *testing.T) {
	for slots, perAccount := range map[int]int{1: 1, 3: 1, 4: 1, 8: 2, 256: 64} {
		require.Equal(t, perAccount, Config{Concurrency: slots}.withDefaults().AccountConcurrency)
	}
}
