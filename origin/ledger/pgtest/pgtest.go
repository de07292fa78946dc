// Package pgtest runs a PostgreSQL of one's own, on a Unix socket in a folder
// of its own, and makes it fail on request. Tests start it; nothing that ships
// imports it.
//
//	s, err := pgtest.Start() // ErrMissing where it is not installed
//	defer s.Close()
//	url, err := s.EmptyDatabase(ctx)
//	s.Stop()                 // as a crash would
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

// ErrMissing says that there is no PostgreSQL to start, and what to do.
var ErrMissing = errors.New("PostgreSQL cannot be had")

// Server is a PostgreSQL server.
type Server struct {
	Dir string // of its socket

	environment []string
	program     string // path of the postgres command
	process     *exec.Cmd
	hold        io.Closer // the server lives while this is open, so no longer than its user
	schemas     atomic.Int64
}

// Start makes an empty server and starts it, with further variables in its
// environment.
func Start(environment ...string) (*Server, error) {
	s := &Server{environment: environment}
	if err := s.create(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// URL names a schema of the server as a database.
func (s *Server) URL(schema string) string {
	return fmt.Sprintf("postgres:///postgres?host=%s&user=postgres&search_path=%s", s.Dir, schema)
}

// EmptyDatabase returns the URL of a new schema: as good as a database, and
// made in no time.
func (s *Server) EmptyDatabase(ctx context.Context) (url string, err error) {
	name, err := s.EmptySchema(ctx)
	return s.URL(name), err
}

// EmptySchema makes a schema and returns its name.
func (s *Server) EmptySchema(ctx context.Context) (name string, err error) {
	name = fmt.Sprintf("test_%d", s.schemas.Add(1))
	return name, s.Exec(ctx, s.URL("public"), "CREATE SCHEMA "+name)
}

// Exec runs statements on a connection of its own.
func (s *Server) Exec(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// CutConnections ends every connection but its own.
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

// Need returns the server that all tests of a package share, or skips the test
// where PostgreSQL is not installed. The package's TestMain calls RemoveShared
// at the end.
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

// NeedDatabase returns the URL of an empty database on the shared server, or
// skips the test as Need does.
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
