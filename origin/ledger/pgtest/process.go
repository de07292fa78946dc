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

// create creates the server's files and starts it.
func (s *Server) create() (err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return fmt.Errorf("%w: it is not installed: apt-get install postgresql", ErrMissing)
	}
	s.program = found[len(found)-1]
	if s.Dir, err = os.MkdirTemp("", "addrspec-postgres-"); err != nil {
		return err
	}
	// --no-sync saves flushing the new files; the server flushes its commits.
	initdb := exec.Command(filepath.Join(filepath.Dir(s.program), "initdb"),
		"--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", s.Dir+"/data")
	if err := s.asOrdinaryUser(initdb); err != nil {
		return err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: initdb is there and does not work: %w: %s", ErrMissing, err, out)
	}
	return s.Resume()
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
	s.process.Env = append(os.Environ(), s.environment...)
	if err = s.asOrdinaryUser(s.process); err != nil {
		return err
	}
	if s.stdin, err = s.process.StdinPipe(); err != nil {
		return err
	}
	if err = s.process.Start(); err != nil {
		return err
	}
	return s.await()
}

func (s *Server) await() error {
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

// Freeze suspends the server's processes: connections stay open and no query is
// answered, as if the machine hung. thaw resumes them.
func (s *Server) Freeze(ctx context.Context) (thaw func(), err error) {
	processes, err := s.processes(ctx)
	if err != nil {
		return nil, err
	}
	for _, pid := range processes {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // fails if the process has ended
	}
	return func() {
		for _, pid := range processes {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}, nil
}

// processes returns the IDs of the server's processes, the parent first.
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
