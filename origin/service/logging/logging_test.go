package logging

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Endless errors, of any message and any logger, do not fill the log's disk: those beyond the rate are counted.
// Other lines all pass.
func TestErrorsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := new(sink)
		log := Open(out, JSON)
		const each = 5000
		for n := range each {
			log.With("part", n%3).Error(fmt.Sprintf("the ledger failed %d", n%2))
			log.WithGroup("g").Warn("slow")
			log.Info("request")
			if n == each/2 {
				time.Sleep(5 * time.Second)
			}
		}
		require.EqualValues(t, 2*each-maxBurst-5*maxRate, log.Dropped())
		time.Sleep(time.Minute)
		log.Error("again")
		log.Close()
		messages, noticed := out.lines(t)
		require.Len(t, messages, each+maxBurst+5*maxRate+1)
		require.Equal(t, log.Dropped(), noticed)
		require.Equal(t, "again", messages[len(messages)-1])
	})
}
