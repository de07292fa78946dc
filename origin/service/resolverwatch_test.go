package service

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

const lookUpsWillFail = "MX lookups will fail"

// failingProbe fails a number of times, and then succeeds.
type failingProbe struct{ left int }

func (p *failingProbe) Probe(context.Context) error {
	if p.left--; p.left >= 0 {
		return errors.New("no response")
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
