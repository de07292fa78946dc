package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServeWarnsOfSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen, operator string
		batch            time.Duration
		message          string // "" for no warning
	}{
		{"127.0.0.1:8080", "", 10 * time.Second, ""},
		{"localhost:8080", "[::1]:9090", 5 * time.Second, ""},
		{"[::ffff:127.0.0.1]:8080", "127.0.0.1:9090", 5 * time.Second, ""},
		{"0.0.0.0:8080", "", 10 * time.Second, "no TLS: terminate TLS in a proxy"},
		{":8080", "127.0.0.1:9090", 10 * time.Second, "no TLS: terminate TLS in a proxy"},
		{"api.example.org:8080", "", 10 * time.Second, "no TLS: terminate TLS in a proxy"},
		{"127.0.0.1:8080", "0.0.0.0:9090", 10 * time.Second, ""},
		{"127.0.0.1:8080", "", time.Second, "set --batch-timeout above --dns-timeout"},
	} {
		var log bytes.Buffer
		config := Config{Listen: c.listen, OperatorListen: c.operator, BatchTimeout: c.batch, DNSTimeout: 5 * time.Second}
		require.NoError(t, config.checkListeners())
		config.warn(slog.New(slog.NewTextHandler(&log, nil)))
		if c.message == "" {
			require.Empty(t, log.String(), "%+v", c)
			continue
		}
		require.Equal(t, 1, strings.Count(log.String(), "\n"), "%+v: %s", c, &log)
		require.Contains(t, log.String(), c.message)
	}
}
