// Package pgtest runs a private PostgreSQL server on a Unix socket, for tests,
// and injects failures: it stops or freezes the server (process.go) and cuts
// connections around a COMMIT (proxy.go). No program that ships imports it.
//
//	s, err := pgtest.Start() // ErrMissing if PostgreSQL is not installed
//	defer s.Close()
//	url, err := s.EmptyDatabase(ctx)
//	s.Stop()                 // like a crash
//	err = s.Resume()
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// ErrMissing is the error of Start if PostgreSQL is not installed. The error that
// wraps it says what to do.
var ErrMissing = errors.New("PostgreSQL is missing")

// A Server is a PostgreSQL server.
type Server struct {
	Dir string // the folder of its socket and data

	environment []string
	program     string // path of the postgres command
	process     *exec.Cmd
	stdin       io.Closer // the server stops when this closes, hence with the process that started it
	schemas     atomic.Int64
}

// Start creates a server without data and starts it. environment is added to its
// environment variables.
func Start(environment ...string) (*Server, error) {
	s := &Server{environment: environment}
	if err := s.create(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// URL returns the URL of a database whose tables are in the schema.
func (s *Server) URL(schema string) string {
	return fmt.Sprintf("postgres:///postgres?host=%s&user=postgres&search_path=%s", s.Dir, schema)
}

// EmptyDatabase creates a schema and returns its URL. A schema isolates tests as
// a database would, and is created faster.
func (s *Server) EmptyDatabase(ctx context.Context) (url string, err error) {
	name, err := s.EmptySchema(ctx)
	return s.URL(name), err
}

// EmptySchema creates a schema and returns its name.
func (s *Server) EmptySchema(ctx context.Context) (name string, err error) {
	name = fmt.Sprintf("test_%d", s.schemas.Add(1))
	return name, s.Exec(ctx, s.URL("public"), "CREATE SCHEMA "+name)
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
