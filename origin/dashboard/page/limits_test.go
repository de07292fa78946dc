package page

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/limit"
)

// A network and an account have a share of each limit, and leave room to others.
func TestSharesOfLimits(t *testing.T) {
	l := newLimits()
	for name, c := range map[string]struct {
		of   *limit.Limiter[string]
		want int
	}{
		"forms of a network":                {l.Arriving, maxEach},
		"pages of a network":                {l.Pages, maxPages / 4},
		"pages without a database":          {l.Offline, maxPages / 4},
		"checks of an account":              {l.Long, MaxLongEach},
		"pages of policies of an account":   {l.Documents, maxDocsEach},
		"pages that a network has not read": {l.Unsent, maxUnsentEach},
	} {
		require.Equal(t, c.want, fill(c.of, "first"), name)
		require.NotZero(t, fill(c.of, "second"), name)
	}
	l = newLimits()
	exports := 0
	for ; l.Long.Take(t.Context(), "exports of "+strconv.Itoa(exports), MaxLongEach) == nil; exports++ {
	}
	require.Equal(t, (maxLong-keptForChecks)/MaxLongEach, exports)
	require.Equal(t, MaxLongEach, fill(l.Long, "checks of 1"), "of those that exports leave")
}

// fill takes units for an owner until it gets no more, and returns how many it has.
func fill(l *limit.Limiter[string], owner string) int {
	ended, end := context.WithCancel(context.Background())
	end() // so that no take waits
	for l.Take(ended, owner, 1) == nil {
	}
	return l.Held(owner)
}
