package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

// A test that needs a server's ledger in another process starts the test binary with
// this variable set. TestMain then runs a worker, which charges single points from
// eight goroutines until it is killed. It prints a line after its first charge.
const workerVariable = "ARCHIVE_TEST_WORKER" // URL and secret, separated by a space

func worker(job []string) {
	l, err := ledger.Open(context.Background(), job[0])
	orExit(err)
	if len(job) == 1 { // only have the database open
		fmt.Println("open")
		select {}
	}
	orExit(charge(l, job[1]))
	fmt.Println("first")
	for range 8 {
		go func() {
			for {
				err := charge(l, job[1])
				if !errors.Is(err, ledger.ErrUndecided) && !errors.Is(err, store.ErrUnavailable) { // as on a stalled disk
					orExit(err)
				}
			}
		}()
	}
	select {}
}

func orExit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// charge runs a request of one point.
func charge(l *ledger.Ledger, secret string) error {
	r, d, err := l.Begin(context.Background(), secret, "")
	if err != nil || d.Kind != ledger.Good {
		return fmt.Errorf("begin: %v: %w", d.Kind, err)
	}
	defer r.End()
	if d, err = r.Claim(1, nil); err != nil || d.Kind != ledger.Good {
		return fmt.Errorf("claim: %v: %w", d.Kind, err)
	}
	d, err = r.Charge(ledger.Charge{Points: 1, Found: book.Found{Valid: 1}})
	if err != nil || d.Kind != ledger.Good {
		return fmt.Errorf("charge: %v: %w", d.Kind, err)
	}
	return nil
}

// startWorker starts a worker, and returns when it has charged once, or opened the database
// if there is no secret. kill ends it as a crash would.
func startWorker(t testing.TB, url, secret string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerVariable+"="+url+" "+secret)
	cmd.Stderr = os.Stderr
	out := must(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	kill = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(kill)
	require.True(t, bufio.NewScanner(out).Scan(), "the worker ended")
	return kill
}

// newLedger creates a ledger with an account, and returns the secret of a key without limits.
func newLedger(t testing.TB, url string) (secret string) {
	l := must(ledger.Open(t.Context(), url))(t)
	defer l.Close()
	return ledgertest.NewAccount(t, l, "load@example.org")
}

// grow adds audit rows to an SQLite ledger, about 0.2 MB a thousand.
func grow(t testing.TB, url string, rows int) {
	query(t, url, "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < "+strconv.Itoa(rows)+`)
		INSERT INTO audit (account, at_ns, actor, action, subject) SELECT 1, i, 'owner', 'key.create', hex(randomblob(90)) FROM n`)
}

// requireAddsUp checks that an account's points are the sum of its usage rows.
func requireAddsUp(t testing.TB, url string) (points int) {
	t.Helper()
	rows := query(t, url, "SELECT used FROM accounts WHERE id = 1 AND used = (SELECT sum(points) FROM usage WHERE account = 1)")
	require.Len(t, rows, 1, "the points differ from the sum of the usage rows")
	return must(strconv.Atoi(rows[0]))(t)
}
