package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWholeSeconds(t *testing.T) {
	for d, want := range map[time.Duration]int{0: 1, time.Nanosecond: 1, time.Second: 1, 1001 * time.Millisecond: 2, time.Hour: 3600} {
		require.Equal(t, want, wholeSeconds(d), d)
	}
}
