package pgtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

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
