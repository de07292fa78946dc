package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// create makes the server's files and starts it.
func (s *Server) create() (err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return fmt.Errorf("%w: it is not installed: apt-get install postgresql", ErrMissing)
	}
	s.program = found[len(found)-1]
	if s.Dir, err = os.MkdirTemp("", "addrspec-postgres-"); err != nil {
		return err
	}
	// --no-sync spares the flush of the new files; the server's own commits are flushed.
	initdb := exec.Command(filepath.Join(filepath.Dir(s.program), "initdb"),
		"--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", s.Dir+"/data")
	if err := s.asOrdinaryUser(initdb); err != nil {
		return err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return s.Resume()
}

// asOrdinaryUser makes root run a command as the user postgres, since
// PostgreSQL refuses to be run by root.
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

// Resume starts the server again and returns once it answers.
func (s *Server) Resume() (err error) {
	const whileInputIsOpen = `"$@" & server=$!; cat; kill -QUIT $server; wait $server`
	s.process = exec.Command("sh", "-c", whileInputIsOpen, "sh",
		s.program, "-D", s.Dir+"/data", "-k", s.Dir, "-c", "listen_addresses=")
	s.process.Env = append(os.Environ(), s.environment...)
	if err = s.asOrdinaryUser(s.process); err != nil {
		return err
	}
	if s.hold, err = s.process.StdinPipe(); err != nil {
		return err
	}
	if err = s.process.Start(); err != nil {
		return err
	}
	return s.await()
}

func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
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

// Stop ends the server at once, as a crash would.
func (s *Server) Stop() {
	if s.process != nil && s.process.Process != nil {
		_ = s.hold.Close()
		_ = s.process.Wait() // a server that is quit exits with an error
	}
	s.process = nil
}

// Freeze stops the server's processes where they are: connections stay open
// and nothing answers, as when its machine hangs. thaw lets them go on.
func (s *Server) Freeze(ctx context.Context) (thaw func(), err error) {
	processes, err := s.processes(ctx)
	if err != nil {
		return nil, err
	}
	for _, pid := range processes {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // one that has ended is frozen enough
	}
	return func() {
		for _, pid := range processes {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}, nil
}

// processes lists the server's processes, the one that starts others first.
func (s *Server) processes(ctx context.Context) (list []int, err error) {
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
	others, err := pgx.CollectRows(rows, pgx.RowTo[int])
	return append([]int{first}, others...), err
}
