// Package ledgertest makes accounts in the ledger of a test, charges them, also from another process,
// and reads what they have used. It imports both drivers.
package ledgertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// Open opens a database, which a running service may use as well, until the
// test ends.
func Open(t testing.TB, database string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(context.Background(), database)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// Unlimited returns a rate or a number of points without a limit.
func Unlimited() *book.Limit { return Limit(book.Unlimited) }

// Limit returns a rate or a number of points for [ledger.Terms].
func Limit(n book.Limit) *book.Limit { return &n }

// NewAccount creates an account without limits and returns a key for it.
func NewAccount(t testing.TB, l *ledger.Ledger, email string) (key string) {
	t.Helper()
	key, _ = NewAccountOn(t, l, email, book.Terms{Rate: Unlimited(), Points: Unlimited()})
	return key
}

// NewAccountOn creates an account on the given terms and returns a key for it.
func NewAccountOn(t testing.TB, l *ledger.Ledger, email string, terms book.Terms) (key string, account int64) {
	t.Helper()
	a, err := l.CreateAccount(context.Background(), email, terms)
	require.NoError(t, err)
	key, _, err = l.CreateKey(context.Background(), a.ID, "test", book.KeyTerms{})
	require.NoError(t, err)
	return key, a.ID
}

// Used returns how many points the account has used this month.
func Used(t testing.TB, l *ledger.Ledger, email string) int64 {
	t.Helper()
	a, err := l.AccountByEmail(context.Background(), email)
	require.NoError(t, err)
	return a.Used
}

// Usage returns the points and the counts of facts in the account's usage history.
func Usage(t testing.TB, l *ledger.Ledger, email string) (points int64, found book.Found) {
	t.Helper()
	a, err := l.AccountByEmail(context.Background(), email)
	require.NoError(t, err)
	today := book.DayOf(time.Now()) // which may end before the history is read
	days, err := l.UsageHistory(context.Background(), a.ID, today-1, today+1)
	require.NoError(t, err)
	for _, d := range days {
		points += d.Points
		found.Valid += d.Valid
		found.Invalid += d.Invalid
		found.Disposable += d.Disposable
		found.Public += d.Public
		found.Relay += d.Relay
		found.Role += d.Role
		found.Gibberish += d.Gibberish
		found.Typo += d.Typo
		found.LookupErrors += d.LookupErrors
	}
	return points, found
}

// Charge runs a request of one point.
func Charge(l *ledger.Ledger, key string) error {
	_, err := charge(l, key)
	return err
}

func charge(l *ledger.Ledger, key string) (used int64, err error) {
	r, d, err := l.Begin(context.Background(), key, "")
	if err != nil || d.Kind != ledger.Good {
		return 0, fmt.Errorf("begin: %v: %w", d.Kind, err)
	}
	defer r.End()
	d, err = r.Claim(1, nil)
	if err == nil && d.Kind == ledger.Good {
		d, err = r.Charge(ledger.Charge{Points: 1, Found: book.Found{Valid: 1}})
	}
	if err != nil || d.Kind != ledger.Good {
		return 0, fmt.Errorf("charge: %v: %w", d.Kind, err)
	}
	return d.Usage.Current, nil
}

// workerVariable makes the binary of a test a worker.
const workerVariable = "LEDGERTEST_WORKER" // URL and key, separated by a space

// Main is what a package's TestMain calls, so that StartWorker can start its test binary.
func Main(m *testing.M) {
	if job := os.Getenv(workerVariable); job != "" {
		url, key, _ := strings.Cut(job, " ")
		fmt.Fprintln(os.Stderr, work(url, key))
		os.Exit(1)
	}
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

func work(url, key string) error {
	l, err := ledger.Open(context.Background(), url)
	if err != nil {
		return err
	}
	if key == "" {
		fmt.Println("used 0")
		select {}
	}
	failed := make(chan error)
	for range 8 {
		go func() {
			for {
				used, err := charge(l, key)
				switch {
				case err == nil:
					fmt.Println("used", used) // one write, unbuffered
				case !errors.Is(err, ledger.ErrUndecided) && !errors.Is(err, store.ErrUnavailable): // as on a stalled disk
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// StartWorker starts a process that charges single points from eight goroutines, or only has the
// ledger open if key is "", and returns when it has reported so many charges. kill ends it as a crash
// would, and returns the most points that it has reported.
func StartWorker(t testing.TB, url, key string, charges int) (kill func() (used int64)) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerVariable+"="+url+" "+key)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines, used := bufio.NewScanner(out), int64(0)
	read := func() bool {
		more, points := lines.Scan(), int64(0)
		_, _ = fmt.Sscanf(lines.Text(), "used %d", &points) // the kill may cut a line off, which lowers the number
		used = max(used, points)
		return more
	}
	for range charges {
		require.True(t, read(), "the worker has ended")
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for read() {
		}
	}()
	kill = func() int64 {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
		return used
	}
	t.Cleanup(func() { kill() })
	return kill
}
