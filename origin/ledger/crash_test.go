package ledger

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// A test that needs another process starts the test binary with this variable
// set. TestMain then runs a worker instead of the tests. The worker charges single
// points from eight goroutines and prints the account's usage after each.
const workerVariable = "LEDGER_TEST_WORKER" // URL, secret and number of charges, separated by spaces

func TestMain(m *testing.M) {
	if job := os.Getenv(workerVariable); job != "" {
		worker(strings.Fields(job))
		return
	}
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

func worker(job []string) {
	orExit := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	charges, err := strconv.Atoi(job[2])
	orExit(err)
	l, err := Open(context.Background(), job[0])
	orExit(err)
	inParallel(8, func(int) {
		for range charges / 8 {
			f := fixture{Ledger: l}
			d, err := f.tryRequest(context.Background(), job[1], 1, nil)
			if isStall(err) {
				fmt.Println("stalled")
				continue
			}
			orExit(err)
			fmt.Println(d.Kind, d.Usage.Current) // one write each, unbuffered
		}
	})
	orExit(l.Close())
}

// startWorker returns the worker's process and the lines it prints.
func startWorker(t *testing.T, url, secret string, charges int) (*exec.Cmd, io.Reader) {
	self := must(os.Executable())(t)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d", workerVariable, url, secret, charges))
	cmd.Stderr = os.Stderr
	out := must(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	return cmd, out
}

// killed is the name by which PostgreSQL knows the connections of a process.
const killed = "killed"

// named returns the URL with a name for connections to PostgreSQL.
func named(url, name string) string {
	if strings.HasPrefix(url, "sqlite:") {
		return url
	}
	return url + "&application_name=" + name
}

// awaitServerOf waits until PostgreSQL has done what a process that was killed has sent to
// it: a commit may have been on its way.
func (f *fixture) awaitServerOf(name string) {
	if strings.HasPrefix(f.url, "sqlite:") {
		return
	}
	require.Eventually(f, func() bool {
		var open int
		f.queryRow("SELECT count(*) FROM pg_stat_activity WHERE application_name = '"+name+"'", &open)
		return open == 0
	}, hung, time.Millisecond)
}

// After a process is killed under load, the database contains every charge that
// it confirmed, is not damaged, and its history agrees with the points used.
func TestKillUnderLoad(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		for round := range 5 {
			cmd, out := startWorker(t, named(url, killed), f.secret, 1_000_000)
			lines := bufio.NewScanner(out)
			succeeded := f.used()
			for i := 0; lines.Scan(); i++ {
				if i == 40*(round+1) {
					require.NoError(t, cmd.Process.Kill())
				}
				var current int64
				if _, err := fmt.Sscanf(lines.Text(), "good %d", &current); err == nil {
					succeeded = max(succeeded, current)
				} // else the kill truncated the line
			}
			require.ErrorContains(t, cmd.Wait(), "killed")
			f.awaitServerOf(killed)
			require.GreaterOrEqual(t, f.used(), succeeded, "a charge with a response is missing")
			require.LessOrEqual(t, f.used(), succeeded+groupLimit, "more than one group got no response")
			require.Equal(t, f.used(), f.history().Points)
			f.checkIntegrity()
		}
		require.Equal(t, f.used()+1, f.request(1).Usage.Current, "the other process still charges")
	})
}

// Two processes that share a database never return the same total, and the points
// used are those that both returned. A charge that a busy machine did not confirm in time is given back.
func TestTwoProcesses(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		const charges = 160
		f := newFixture(t, url, unlimitedTerms)
		var mu sync.Mutex
		totals, stalled := map[string]bool{}, 0
		inParallel(2, func(int) {
			cmd, out := startWorker(t, url, f.secret, charges)
			for lines := bufio.NewScanner(out); lines.Scan(); {
				mu.Lock()
				if lines.Text() == "stalled" {
					stalled++
				}
				totals[lines.Text()] = true
				mu.Unlock()
			}
			require.NoError(t, cmd.Wait())
		})
		if stalled == 0 {
			require.Len(t, totals, 2*charges)
		}
		require.EqualValues(t, 2*charges-stalled, f.used())
		require.EqualValues(t, 2*charges-stalled, f.history().Points)
		f.checkIntegrity()
	})
}

// checkIntegrity checks that an SQLite file is not damaged.
func (f *fixture) checkIntegrity() {
	f.Helper()
	if strings.HasPrefix(f.url, "sqlite:") {
		var result string
		f.queryRow("PRAGMA integrity_check", &result)
		require.Equal(f, "ok", result)
		var orphans int
		f.queryRow("SELECT count(*) FROM pragma_foreign_key_check", &orphans)
		require.Zero(f, orphans)
	}
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	mountSmallDisk(t, dir)
	f := newFixture(t, "sqlite:"+filepath.Join(dir, "x.db"), unlimitedTerms)
	f.request(10)

	filler := must(os.Create(filepath.Join(dir, "filler")))(t)
	_, err := io.Copy(filler, endless{})
	require.ErrorContains(t, err, "no space left")
	require.NoError(t, filler.Close())

	var succeeded int64 = 10
	for err = nil; err == nil; { // until the write-ahead log has no page left
		var d Decision
		if d, err = f.tryRequest(f.ctx, f.secret, 1, nil); err == nil {
			succeeded = d.Usage.Current
		}
	}
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.ErrorContains(t, err, "the disk is full")
	require.Equal(t, succeeded, f.used(), "nothing was charged")
	require.ErrorIs(t, f.Ready(f.ctx), store.ErrUnavailable)
	_, _, err = f.Begin(f.ctx, f.secret, "")
	require.ErrorIs(t, err, store.ErrUnavailable, "no request is admitted that cannot be charged")

	require.NoError(t, os.Remove(filler.Name()))
	f.awaitReady()
	require.Equal(t, succeeded+1, f.request(1).Usage.Current, "there is space again")
	require.Equal(t, succeeded+1, f.history().Points)
	f.checkIntegrity()
}

// endless is an infinite stream of zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// awaitDown waits until the ledger has found that the database does not commit.
func (f *fixture) awaitDown() {
	f.Helper()
	require.Eventually(f, func() bool { return f.Ready(f.ctx) != nil }, hung, time.Millisecond)
}

// awaitReady waits until the database commits again.
func (f *fixture) awaitReady() {
	f.Helper()
	require.Eventually(f, func() bool { return f.Ready(f.ctx) == nil }, hung, time.Millisecond)
	if f.timing.Wait == hurry {
		f.timing.Wait = hung
	}
}
