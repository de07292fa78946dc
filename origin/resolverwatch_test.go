package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
	"github.com/addrspec/addrspec/origin/origintest"
)

const lookUpsWillFail = "MX look-ups will fail"

// A silent resolver delays neither the start nor requests; the log and a metric
// report it.
func TestStartDoesNotWaitForResolver(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	s := start(t, "--dns", silent.LocalAddr().String())
	ready, _ := s.send(t, http.MethodGet, "/readyz", "", "", nil)
	require.Equal(t, http.StatusOK, ready.StatusCode)
	require.False(t, s.log.Contains(lookUpsWillFail), "the probe must not be over yet")
	_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
	require.Contains(t, metrics, "\naddrspec_mx_resolver_answered 0\n")
	require.Eventually(t, func() bool { return s.log.Contains(lookUpsWillFail) }, hung, 20*time.Millisecond)
}

func TestResolverThatAnswersIsInMetrics(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	require.Eventually(t, func() bool {
		_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
		return strings.Contains(metrics, "\naddrspec_mx_resolver_answered 1\n")
	}, hung, 20*time.Millisecond)
	require.False(t, s.log.Contains(lookUpsWillFail))
}

// failingProbe fails a number of times, and then succeeds.
type failingProbe struct{ left int }

func (p *failingProbe) Probe(context.Context) error {
	if p.left--; p.left >= 0 {
		return errors.New("no answer")
	}
	return nil
}

// The log has one warning for a long outage, and its end.
func TestResolverWatchLogsOutageOnce(t *testing.T) {
	t.Parallel()
	var log origintest.Log
	w := &resolverWatch{resolver: &failingProbe{3}, log: slog.New(slog.NewTextHandler(&log, nil)), pause: time.Microsecond}
	w.run(t.Context())
	require.Equal(t, 1, strings.Count(log.String(), lookUpsWillFail))
	require.Contains(t, log.String(), "failed_probes=3")
	require.Equal(t, 1.0, w.value())
}

// The end of the service ends the watch, in a probe and in a pause, without a
// warning about a probe that it cut off.
func TestResolverWatchEndsWithService(t *testing.T) {
	t.Parallel()
	var log origintest.Log
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := &resolverWatch{resolver: &failingProbe{1 << 30}, log: slog.New(slog.NewTextHandler(&log, nil)), pause: time.Hour}
	w.run(ctx)
	require.Empty(t, log.String())
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	w.run(ctx) // returns although the pause is an hour
	require.Equal(t, 1, strings.Count(log.String(), lookUpsWillFail))
	require.Zero(t, w.value())
}
