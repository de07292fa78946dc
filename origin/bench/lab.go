package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
	"github.com/addrspec/addrspec/origin/origintest"
	"github.com/addrspec/addrspec/wasm/host"
)

// A lab is what the rows share. Each part is started by the first row that needs it
// and runs until the end.
type lab struct {
	dir     string // for databases
	span    time.Duration
	release []func()

	program        func() (string, error)              // path of the program
	bare           func() (*origintest.Process, error) // the peer of HTTP; its first line is its address
	dns            func() (*origintest.Process, error) // the DNS server, likewise
	postgresServer func() (*pgtest.Server, error)
	replicas       func() ([]*service, error)
	edgeTools      func() (edgeTools, error)
	edgePair       func() (edgePair, error)
	population     func() (population, error)
	smallModule    func() (*host.Engine, error)
	services       map[string]*service // by database
	startKey       string              // of the account of startAndAsk
	numbers        atomic.Int64        // that were given to loads
	lookedUp       bool                // by memoryAfterDomains
}

// The time of one measurement of one side of a row.
const (
	usualSpan = 2 * time.Second
	quickSpan = time.Second
)

func newLab(ctx context.Context, o options) (*lab, error) {
	dir, err := os.MkdirTemp(o.dir, "addrspec-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, span: usualSpan, services: map[string]*service{}}
	if o.quick {
		l.span = quickSpan
	}
	l.later(func() { os.RemoveAll(dir) })
	l.program = sync.OnceValues(func() (string, error) { return l.build(ctx, o.binary) })
	l.bare = sync.OnceValues(func() (*origintest.Process, error) { return l.role("role-bare") })
	l.dns = sync.OnceValues(func() (*origintest.Process, error) { return l.role("role-dns") })
	l.postgresServer = sync.OnceValues(l.startPostgres)
	l.replicas = sync.OnceValues(l.startReplicas)
	l.edgeTools = sync.OnceValues(func() (edgeTools, error) { return l.findEdgeTools(ctx) })
	l.edgePair = sync.OnceValues(l.startEdgePair)
	l.population = sync.OnceValues(func() (population, error) { return l.populate(ctx) })
	l.smallModule = sync.OnceValues(func() (*host.Engine, error) { return l.scaledModule(ctx, 1) })
	return l, nil
}

// later runs f when the lab is closed.
func (l *lab) later(f func()) { l.release = append(l.release, f) }

func (l *lab) close() {
	for n := len(l.release) - 1; n >= 0; n-- {
		l.release[n]()
	}
}

// build builds the program as ./build.sh does, with the module that is in
// wasm/module.
func (l *lab) build(ctx context.Context, binary string) (string, error) {
	if binary != "" {
		return filepath.Abs(binary)
	}
	to := filepath.Join(l.dir, "addrspec")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", to, "github.com/addrspec/addrspec/origin")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return to, nil
}

// role starts this program in a role. Its first line is the address that it listens on.
func (l *lab) role(name string) (*origintest.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return l.start(exec.Command(self, name), origintest.OnStdout)
}

// numbersOfLoad is more than a load ever sends.
const numbersOfLoad = 1_000_000_000

// unused returns a number from which no load had any.
func (l *lab) unused() int64 { return l.numbers.Add(numbersOfLoad) }

// start starts a process that ends with the lab.
func (l *lab) start(cmd *exec.Cmd, firstLine func(*exec.Cmd, *os.File)) (*origintest.Process, error) {
	dieWithParent(cmd)
	p, err := origintest.Start(cmd, firstLine)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err)
	}
	l.later(p.Kill)
	return p, nil
}
