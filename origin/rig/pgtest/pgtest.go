// Package pgtest runs a private PostgreSQL server on a Unix socket, for tests,
// and injects failures: it stops or freezes the server and cuts connections around a
// COMMIT (proxy.go). No program that ships imports it.
//
//	s, err := pgtest.Start() // ErrMissing if PostgreSQL is not installed
//	defer s.Close()
//	url, err := s.EmptyDatabase(ctx)
//	s.Stop()                 // like a crash
//	err = s.Resume()
package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// ErrMissing is the error of Start if PostgreSQL is not installed. The error that
// wraps it says what to do.
var ErrMissing = errors.New("PostgreSQL is missing")

// A Server is a PostgreSQL server.
type Server struct {
	Dir string // the directory of its socket and data

	program string // path of the postgres command
	process *exec.Cmd
	stdin   io.Closer // the server stops when this closes, hence with the process that started it
	schemas atomic.Int64
}

// Start creates a server without data and starts it.
func Start() (_ *Server, err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: it is not installed: apt-get install postgresql", ErrMissing)
	}
	s := &Server{program: found[len(found)-1]}
	s.Dir, err = os.MkdirTemp("", "addrspec-postgres-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	// --no-sync saves flushing the new files; the server flushes its commits.
	initdb := exec.Command(filepath.Join(filepath.Dir(s.program), "initdb"),
		"--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", s.Dir+"/data")
	if err := s.asOrdinaryUser(initdb); err != nil {
		return nil, err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: initdb is there and does not work: %w: %s", ErrMissing, err, out)
	}
	return s, s.Resume()
}

// URL returns the URL of a database whose tables are in the schema.
func (s *Server) URL(schema string) string {
	return fmt.Sprintf("postgres:///postgres?host=%s&user=postgres&search_path=%s", s.Dir, schema)
}

// EmptyDatabase creates a schema and returns its URL. A schema isolates tests as
// a database would, and is created faster.
func (s *Server) EmptyDatabase(ctx context.Context) (url string, err error) {
	name := fmt.Sprintf("test_%d", s.schemas.Add(1))
	return s.URL(name), s.Exec(ctx, s.URL("public"), "CREATE SCHEMA "+name)
}

// Exec runs statements on a new connection.
func (s *Server) Exec(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// CutConnections ends all client connections.
func (s *Server) CutConnections(ctx context.Context) error {
	return s.Exec(ctx, s.URL("public"), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`)
}

// Close stops the server and removes its files.
func (s *Server) Close() {
	if s.Dir != "" {
		s.Stop()
		_ = os.RemoveAll(s.Dir)
	}
}

var shared = sync.OnceValues(func() (*Server, error) {
	s, err := Start()
	if err == nil {
		removeShared = s.Close
	}
	return s, err
})

var removeShared = func() {}

// Need returns the server that all tests of a package share. It skips the test if
// PostgreSQL is not installed. The package's TestMain calls RemoveShared at the
// end.
func Need(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// RemoveShared stops the shared server, if one was started.
func RemoveShared() { removeShared() }

// NeedDatabase returns the URL of an empty database on the shared server. It
// skips the test if Need does.
func NeedDatabase(t testing.TB) (url string) {
	t.Helper()
	url, err := Need(t).EmptyDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// EachDatabase runs test twice: on an empty SQLite database and on an empty
// PostgreSQL one.
func EachDatabase(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, NeedDatabase(t)) })
}

// SQL opens a database beside the ledger, which registers the driver for SQLite. No connection is
// open between statements, so that what a test closes or moves is not in use.
func SQL(t testing.TB, url string) *sql.DB {
	t.Helper()
	driver, source := "pgx", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, source = "sqlite", "file:"+path+"?_pragma=busy_timeout(120000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(-1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// asOrdinaryUser makes a command run as the user postgres if this process is
// root, because PostgreSQL refuses to run as root.
func (s *Server) asOrdinaryUser(cmd *exec.Cmd) error {
	cmd.Dir = s.Dir
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("%w: root needs a user postgres to run it: %w", ErrMissing, err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	return os.Chown(s.Dir, uid, -1)
}

// Resume starts the server and waits until it accepts connections.
func (s *Server) Resume() (err error) {
	const whileInputIsOpen = `"$@" & server=$!; cat; kill -QUIT $server; wait $server`
	s.process = exec.Command("sh", "-c", whileInputIsOpen, "sh",
		s.program, "-D", s.Dir+"/data", "-k", s.Dir, "-c", "listen_addresses=")
	if err := s.asOrdinaryUser(s.process); err != nil {
		return err
	}
	s.stdin, err = s.process.StdinPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for ; ; time.Sleep(10 * time.Millisecond) {
		conn, err := pgx.Connect(ctx, s.URL("public"))
		if err == nil {
			return conn.Close(ctx)
		}
		if ctx.Err() != nil {
			return err
		}
	}
}

// Stop ends the server immediately, without a shutdown checkpoint, like a crash.
func (s *Server) Stop() {
	if s.process != nil && s.process.Process != nil {
		_ = s.stdin.Close()
		_ = s.process.Wait() // after SIGQUIT the exit status is an error
	}
	s.process = nil
}

// Freeze suspends the server's processes: connections stay open and no query gets a
// result, as if the machine hung. thaw resumes them.
func (s *Server) Freeze(ctx context.Context) (thaw func(), err error) {
	lock, err := os.ReadFile(s.Dir + "/data/postmaster.pid")
	if err != nil {
		return nil, err
	}
	var first int
	if _, err := fmt.Fscan(strings.NewReader(string(lock)), &first); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, s.URL("public"))
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
	if err != nil {
		return nil, err
	}
	processes, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return nil, err
	}
	signal := func(signal syscall.Signal) {
		for _, pid := range append([]int{first}, processes...) {
			_ = syscall.Kill(pid, signal) // fails if the process has ended
		}
	}
	signal(syscall.SIGSTOP)
	return func() { signal(syscall.SIGCONT) }, nil
}
