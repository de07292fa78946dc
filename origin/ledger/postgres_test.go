package ledger

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// A server is a PostgreSQL of the tests' own, on a Unix socket in its folder.
// It is started by the first test that needs it.
type server struct {
	dir     string
	program string // of the postgres command
	process *exec.Cmd
	hold    io.Closer // the server lives while this is open, so no longer than the test
	missing string    // why there is none
}

var (
	postgresOnce   sync.Once
	postgresServer server
	databases      atomic.Int64
)

// needPostgres returns the server, or skips the test where it is not installed.
func needPostgres(t testing.TB) *server {
	postgresOnce.Do(func() { require.NoError(t, postgresServer.create()) })
	if postgresServer.missing != "" {
		t.Skip(postgresServer.missing)
	}
	return &postgresServer
}

// emptyDatabase is the URL of a new schema: as good as a database, and made in no time.
func (s *server) emptyDatabase(t testing.TB) string { return s.url(s.emptySchema(t)) }

func (s *server) emptySchema(t testing.TB) string {
	name := fmt.Sprintf("test_%d", databases.Add(1))
	conn, err := pgx.Connect(t.Context(), s.url("public"))
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "CREATE SCHEMA "+name)
	require.NoError(t, err)
	return name
}

func (s *server) url(schema string) string { return urlAt(s.dir, schema) }

func urlAt(dir, schema string) string {
	return fmt.Sprintf("postgres:///postgres?host=%s&user=postgres&search_path=%s", dir, schema)
}

// create makes the server's files and starts it.
func (s *server) create() error {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		s.missing = "PostgreSQL is not installed: apt-get install postgresql"
		return nil
	}
	s.program = found[len(found)-1]
	var err error
	if s.dir, err = os.MkdirTemp("", "addrspec-postgres-"); err != nil {
		return err
	}
	// --no-sync spares the flush of the new files; the server's own commits are flushed.
	initdb := exec.Command(filepath.Join(filepath.Dir(s.program), "initdb"),
		"--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", s.dir+"/data")
	if err := s.asOrdinaryUser(initdb); err != nil {
		s.missing = err.Error()
		return nil
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return s.start()
}

// asOrdinaryUser makes root run a command as the user postgres, since
// PostgreSQL refuses to be run by root.
func (s *server) asOrdinaryUser(cmd *exec.Cmd) error {
	cmd.Dir = s.dir
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("root needs a user postgres to run PostgreSQL: %w", err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	return os.Chown(s.dir, uid, -1)
}

func (s *server) start() (err error) {
	const whileInputIsOpen = `"$@" & server=$!; cat; kill -QUIT $server; wait $server`
	s.process = exec.Command("sh", "-c", whileInputIsOpen, "sh",
		s.program, "-D", s.dir+"/data", "-k", s.dir, "-c", "listen_addresses=")
	if err = s.asOrdinaryUser(s.process); err != nil {
		return err
	}
	if s.hold, err = s.process.StdinPipe(); err != nil {
		return err
	}
	if err = s.process.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for ; ; time.Sleep(10 * time.Millisecond) {
		conn, err := pgx.Connect(ctx, s.url("public"))
		if err == nil {
			return conn.Close(ctx)
		}
		if ctx.Err() != nil {
			return err
		}
	}
}

// stop ends the server at once, as a crash would.
func (s *server) stop() {
	if s.process != nil {
		_ = s.hold.Close()
		_ = s.process.Wait() // a server that is quit exits with an error
		s.process = nil
	}
}

// remove stops the server for good.
func (s *server) remove() {
	if s.dir != "" {
		s.stop()
		_ = os.RemoveAll(s.dir)
	}
}
