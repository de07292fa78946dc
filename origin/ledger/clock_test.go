package ledger

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

func midnight(day string) time.Time { return clockAt(day + "T00:00:00Z").wall }

// A ledger whose database's clock is wrong by more than a day is not ready.
func TestClockFarFromTheMachines(t *testing.T) {
	for ahead, wrong := range map[time.Duration]bool{0: false, 23 * time.Hour: false, -23 * time.Hour: false, 25 * time.Hour: true, -25 * time.Hour: true} {
		clock := func() time.Time { return time.Now().Add(ahead) }
		l := open(t, "sqlite:"+t.TempDir()+"/x.db", WithClock(clock), func(s *settings) { s.process = time.Now })
		for _, err := range []error{l.CheckClock(t.Context()), l.Ready(t.Context())} {
			if wrong {
				require.ErrorIs(t, err, store.ErrUnavailable)
				require.ErrorContains(t, err, "the database's clock says ")
			} else {
				require.NoError(t, err)
			}
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, l.Ready(gone), store.ErrUnavailable, "it does not respond in time")
	}
}
