package sqlite

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// Closing while transactions run crashes nothing: each commits, or returns an error.
func TestCloseDuringTransactions(t *testing.T) {
	for range 20 {
		s, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), nil)
		require.NoError(t, err)
		var writers sync.WaitGroup
		begun := make(chan struct{}, 4)
		for range cap(begun) {
			writers.Go(func() {
				for err := error(nil); err == nil; {
					reading := storetest.PutPlan("mark")
					reading.Reads = func() []store.Statement {
						return []store.Statement{{Name: "list_plans", Scan: func(r store.Row) error { return nil }}}
					}
					err = s.Transact(t.Context(), reading)
					select {
					case begun <- struct{}{}:
					default:
					}
				}
			})
		}
		<-begun
		require.NoError(t, s.Close())
		writers.Wait()
	}
}
