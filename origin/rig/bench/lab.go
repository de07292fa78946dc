package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/wasm/module"
)

// A lab is what the rows share. Each part is started by the first row that needs it
// and runs until the end.
type lab struct {
	ctx     context.Context
	dir     string // for databases
	program string // path of the program
	span    time.Duration
	release []func()
	numbers atomic.Int64 // that were given to loads

	bare   func() *origintest.Process // the peer of HTTP; its first line is its address
	dns    func() *origintest.Process // the DNS server, likewise
	sqlite func() *service
	// postgres is a service on a PostgreSQL of its own.
	postgres func() *service
	edge     func() edge
	startKey string // of the account of startServe
}

// newLab returns a lab. The span is the time of one measurement of one side of a row.
func newLab(ctx context.Context, o options) (*lab, error) {
	program, err := filepath.Abs(o.binary)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "addrspec-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{ctx: ctx, dir: dir, span: 2 * time.Second, program: program}
	if o.quick {
		l.span = time.Second
	}
	l.later(func() { os.RemoveAll(dir) })
	role := func(name string) func() *origintest.Process {
		return sync.OnceValue(func() *origintest.Process {
			self, err := os.Executable()
			l.check(err)
			return l.start(exec.Command(self, name), origintest.OnStdout)
		})
	}
	l.bare, l.dns = role("role-bare"), role("role-dns")
	l.sqlite = sync.OnceValue(l.newService)
	l.postgres = sync.OnceValue(func() *service {
		server, err := pgtest.Start()
		if err != nil {
			l.skip("%v", err)
		}
		l.later(server.Close)
		url, err := server.EmptyDatabase(ctx)
		l.check(err)
		return l.serveNew(url)
	})
	l.edge = sync.OnceValue(l.startEdge)
	return l, nil
}

// later runs f when the lab is closed.
func (l *lab) later(f func()) { l.release = append(l.release, f) }

func (l *lab) close() {
	for _, release := range slices.Backward(l.release) {
		release()
	}
}

// check ends the measurement of the row if err is not nil. Only a row's own goroutine may call it
// and the methods that call it.
func (l *lab) check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// skip ends the measurement of a row that needs what this machine lacks.
func (l *lab) skip(format string, args ...any) {
	l.check(fmt.Errorf("%w: %s", errSkipped, fmt.Sprintf(format, args...)))
}

// unused returns a number from which no load had any; no load sends a billion.
func (l *lab) unused() int64 { return l.numbers.Add(1_000_000_000) }

// module returns the module that is in wasm/module.
func (l *lab) module() []byte {
	wasm, err := module.Bytes()
	l.check(err)
	return wasm
}

// moduleFile writes the module to a file.
func (l *lab) moduleFile() string {
	file := filepath.Join(l.dir, "addrspec.wasm")
	l.check(os.WriteFile(file, l.module(), 0o600))
	return file
}

// start starts a process that ends with the lab.
func (l *lab) start(cmd *exec.Cmd, firstLine func(*exec.Cmd, *os.File)) *origintest.Process {
	p, err := origintest.Start(cmd, firstLine)
	if err != nil {
		l.check(fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err))
	}
	l.later(p.Kill)
	return p
}

// A service is a running `addrspec serve` with an account that has no limits.
type service struct {
	*origintest.Process
	address, key string
}

// newService starts the service on a new SQLite database.
func (l *lab) newService() *service {
	dir, err := os.MkdirTemp(l.dir, "database-")
	l.check(err)
	return l.serveNew("sqlite:" + filepath.Join(dir, "ledger.db"))
}

// serveNew starts the service on an empty database, after it has made an account and a key.
func (l *lab) serveNew(database string) *service {
	key := l.account(database)
	s := l.serve(database)
	s.key = key
	return s
}

// account makes an account without limits, and a key for it.
func (l *lab) account(database string) (key string) {
	o := origintest.Operator{Program: l.program, Database: database}
	key, err := o.NewAccount(l.ctx, "jane@bench.test", "unlimited", "unlimited")
	l.check(err)
	return key
}

// edgeSecret is what the edge worker and the service share.
const edgeSecret = "a secret of the benchmark"

// serve starts the program on a database.
func (l *lab) serve(database string) *service {
	dns := l.dns().FirstLine
	cmd := exec.Command(l.program, "serve", "--listen", "127.0.0.1:0", "--database", database, "--dns", dns)
	cmd.Env = append(os.Environ(), "ADDRSPEC_EDGE_SECRET="+edgeSecret)
	log, err := os.CreateTemp(l.dir, "log-")
	l.check(err)
	defer log.Close()
	cmd.Stderr = log
	p := l.start(cmd, origintest.OnStdout)
	address, err := origintest.AddressIn(p.FirstLine)
	l.check(err)
	return &service{Process: p, address: address}
}

// responseSize is the length of the body of a usual response to a GET in bytes.
const responseSize = 305

// serveBare is the peer of HTTP: net/http alone, which writes a body as long as the
// service does, of the same type.
func serveBare() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	body := strings.Repeat("x", responseSize)
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
}

// zone has an MX for every name that rows ask for.
const zone = `
	example.          300 IN SOA ns.example. hostmaster.example. 1 2 3 4 60
	mail.example.     3600 IN MX  10 mx1.mail.example.
	*.bulk.example.   3600 IN MX  10 mx1.mail.example.
`

// serveDNS is the resolver of the service.
func serveDNS() error {
	server, err := mxtest.Listen("127.0.0.1:0", zone)
	if err != nil {
		return err
	}
	fmt.Println(server.Addr)
	select {}
}
