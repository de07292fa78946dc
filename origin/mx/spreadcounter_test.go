package mx

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpreadCounter(t *testing.T) {
	var c spreadCounter
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				c.add()
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 8000, c.load())
	for n := range c.parts {
		require.NotZero(t, c.parts[n].Load(), n) // of 500 expected
	}
}
