package sqlite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// wasAlone commits a Marked transaction and returns whether Alone was called.
func wasAlone(t *testing.T, s store.Store) (alone bool) {
	mark := storetest.PutPlan("mark")
	mark.Alone = func() { alone = true }
	require.NoError(t, s.Transact(t.Context(), mark))
	return alone
}

func TestAlone(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "ledger.db")
	s := storetest.Open(t, url)
	require.False(t, wasAlone(t, s), "the first")
	require.True(t, wasAlone(t, s))
	require.True(t, wasAlone(t, s))

	other := storetest.Open(t, url)
	require.True(t, wasAlone(t, s), "another connection that only reads")
	require.NotEmpty(t, storetest.PlanNames(t, other))
	require.True(t, wasAlone(t, s))
	require.NoError(t, other.Transact(t.Context(), storetest.PutPlan("other")))
	require.False(t, wasAlone(t, s), "after a commit of another connection")
	require.True(t, wasAlone(t, s))

	own := storetest.PutPlan("own")
	own.Marked = false
	require.NoError(t, s.Transact(t.Context(), own))
	require.False(t, wasAlone(t, s), "after another transaction of its own connection")
	require.True(t, wasAlone(t, s))

	require.Error(t, s.Transact(t.Context(), store.Transaction{Marked: true, Decide: func(time.Time) ([]store.Statement, error) { return nil, os.ErrInvalid }}))
	require.True(t, wasAlone(t, s), "after one that changed nothing")
}

// Another process commits between transactions of this one. Each writes another name:
// SQLite writes nothing if a row stays as it was.
func TestAloneAmongProcesses(t *testing.T) {
	if path := os.Getenv("ADDRSPEC_TEST_ALONE"); path != "" {
		require.NoError(t, storetest.Open(t, path).Transact(t.Context(), storetest.PutPlan(fmt.Sprint(os.Getpid()))))
		return
	}
	url := "sqlite:" + filepath.Join(t.TempDir(), "ledger.db")
	s := storetest.Open(t, url)
	wasAlone(t, s)
	for range 3 {
		require.True(t, wasAlone(t, s))
		other := exec.Command(os.Args[0], "-test.run=^TestAloneAmongProcesses$")
		other.Env = append(os.Environ(), "ADDRSPEC_TEST_ALONE="+url)
		out, err := other.CombinedOutput()
		require.NoError(t, err, string(out))
		require.False(t, wasAlone(t, s))
	}
}

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
