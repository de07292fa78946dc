package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// moduleFile is the module as the source is now, for --module.
func moduleFile(t testing.TB) string {
	file := filepath.Join(t.TempDir(), "addrspec.wasm")
	require.NoError(t, os.WriteFile(file, moduletest.Bytes(t), 0o600))
	return file
}

// service is a running `addrspec serve`: the very program, in this process.
type service struct {
	hostPort string
	database string
	ledger   *ledger.Ledger // the same database, opened a second time
	log      *tail
	stop     context.CancelFunc
	exit     chan int
}

// start runs serve until the test ends.
func start(t testing.TB, args ...string) *service {
	t.Helper()
	s := &service{database: "sqlite:" + filepath.Join(t.TempDir(), "addrspec.db"), log: new(tail), exit: make(chan int, 1)}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--database", s.database,
		"--module", moduleFile(t), "--cache-dir", moduletest.CacheDir()}, args...)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	out, in := io.Pipe()
	go func() { s.exit <- run(ctx, args, streams{strings.NewReader(""), in, s.log}); in.Close() }()
	t.Cleanup(func() { stop(); <-s.exit })
	s.hostPort = awaitAddress(t, out, s)
	s.openLedger(t)
	return s
}

// awaitAddress reads where the service listens from its first line.
func awaitAddress(t testing.TB, out io.Reader, s *service) string {
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, "serve ended: %s", s.log)
	_, hostPort, found := strings.Cut(strings.TrimSpace(line), "http://")
	require.True(t, found, line)
	go io.Copy(io.Discard, out)
	_, _, err = net.SplitHostPort(hostPort)
	require.NoError(t, err)
	return hostPort
}

func (s *service) openLedger(t testing.TB) {
	var err error
	s.ledger, err = ledger.Open(context.Background(), s.database)
	require.NoError(t, err)
	t.Cleanup(func() { s.ledger.Close() })
}

func TestOriginHoldsTheContract(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--batch-timeout", "20s")
	t.Run("cases", func(t *testing.T) { contract.Run(t, s.hostPort, s.ledger) })
	log := s.wholeLog(t)
	require.NotContains(t, log, "@", "the log holds an address")
	require.NotContains(t, log, "ask_", "the log holds a key")
}
