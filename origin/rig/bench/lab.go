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

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
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
	charged        func() (charged, error)
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
	l.charged = sync.OnceValues(l.startCharged)
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
	return to, origintest.BuildProgram(ctx, to)
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
	p, err := origintest.Start(cmd, firstLine)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err)
	}
	l.later(p.Kill)
	return p, nil
}

// A service is a running `addrspec serve` with an account that has no limits.
type service struct {
	*origintest.Process
	database string // its URL
	url, key string
}

// sqlite returns the service on a SQLite database that many rows share.
func (l *lab) sqlite() (*service, error) { return l.service("sqlite", l.sqliteDatabase) }

// sqliteDatabase returns the URL of a new database.
func (l *lab) sqliteDatabase() (string, error) {
	dir, err := os.MkdirTemp(l.dir, "database-")
	return "sqlite:" + filepath.Join(dir, "ledger.db"), err
}

// service returns the service of that name, and starts it on the first call.
func (l *lab) service(name string, database func() (string, error)) (s *service, err error) {
	s = l.services[name]
	if s != nil {
		return s, nil
	}
	url, err := database()
	if err != nil {
		return nil, err
	}
	if s, err = l.newServiceOn(url, name); err == nil {
		l.services[name] = s
	}
	return s, err
}

// newService starts the service on a new SQLite database.
func (l *lab) newService() (*service, error) {
	url, err := l.sqliteDatabase()
	if err != nil {
		return nil, err
	}
	return l.newServiceOn(url, "new")
}

// newServiceOn starts the service on a database, with a new account of that name.
func (l *lab) newServiceOn(url, name string) (*service, error) {
	key, err := l.account(url, name)
	if err != nil {
		return nil, err
	}
	dns, err := l.dns()
	if err != nil {
		return nil, err
	}
	s, err := l.serve(url, dns.FirstLine)
	if err != nil {
		return nil, err
	}
	s.key = key
	return s, nil
}

// edgeSecret is what the edge worker and the service share.
const edgeSecret = "a secret of the benchmark"

// serve starts the program on a database, with a resolver.
func (l *lab) serve(database, dns string) (*service, error) {
	program, err := l.program()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--database", database, "--dns", dns)
	cmd.Env = append(os.Environ(), "ADDRSPEC_EDGE_SECRET="+edgeSecret)
	log, err := os.CreateTemp(l.dir, "log-")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	p, err := l.start(cmd, origintest.OnStdout)
	if err != nil {
		return nil, err
	}
	address, err := origintest.AddressIn(p.FirstLine)
	return &service{Process: p, database: database, url: "http://" + address}, err
}

// account makes an account without limits, and a key for it.
func (l *lab) account(database, name string) (key string, err error) {
	program, err := l.program()
	if err != nil {
		return "", err
	}
	o := origintest.Operator{Program: program, Database: database}
	return o.NewAccount(context.Background(), name+"@bench.test", "unlimited", "unlimited")
}

// freshKey returns the key of a new account without limits. wrk hangs up at the end of a
// load, and an account with more than 1,024 addresses whose checks were not paid for is
// refused for a while.
func (l *lab) freshKey(s *service) (key string, err error) {
	return l.account(s.database, fmt.Sprintf("load%d", l.unused()))
}

// responseSize is the length of the body of a usual response to a GET in bytes.
const responseSize = 305

// serveBare is the peer of HTTP: net/http alone, which writes a body as long as the
// service does, of the same type.
func serveBare([]string) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return failed(err)
	}
	fmt.Println(listener.Addr())
	body := strings.Repeat("x", responseSize)
	return failed(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	})))
}

// zone has an MX for every name that rows ask for.
const zone = `
	example.          300 IN SOA ns.example. hostmaster.example. 1 2 3 4 60
	mail.example.     3600 IN MX  10 mx1.mail.example.
	*.bulk.example.   3600 IN MX  10 mx1.mail.example.
`

// serveDNS is the resolver of the service.
func serveDNS([]string) int {
	server, err := mxtest.Listen("127.0.0.1:0", zone)
	if err != nil {
		return failed(err)
	}
	fmt.Println(server.Addr)
	select {}
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "bench:", err)
	return 1
}

// A population is a service whose ledger has many accounts and keys.
type population struct {
	*service
	firstKeys []string // one of each account
	allKeys   []string
}

// populate makes the population: manyAccounts accounts with keysEach keys.
func (l *lab) populate(ctx context.Context) (p population, err error) {
	url, err := l.sqliteDatabase()
	if err != nil {
		return p, err
	}
	books, err := ledger.Open(ctx, url)
	if err != nil {
		return p, err
	}
	defer books.Close()
	keys, err := createAll(ctx, books, manyAccounts, keysEach)
	if err != nil {
		return p, err
	}
	for _, k := range keys {
		p.firstKeys, p.allKeys = append(p.firstKeys, k[0]), append(p.allKeys, k...)
	}
	if p.service, err = l.newServiceOn(url, "population"); err != nil {
		return p, err
	}
	return p, p.useAll()
}

// useAll charges each key once, since its first charge reads its rows.
func (p population) useAll() error {
	d := load{url: p.url + single, keys: p.allKeys, connections: 32, span: time.Second}
	for used := int64(0); used < int64(len(d.keys)); {
		s := d.send()
		if _, err := s.rate(); err != nil {
			return err
		}
		used += s.Requests
		next := s.Requests % int64(len(d.keys))
		d.keys = slices.Concat(d.keys[next:], d.keys[:next])
	}
	return nil
}

// createAll creates accounts, some at a time, and returns the keys of each.
func createAll(ctx context.Context, books *ledger.Ledger, accounts, keysOf int) ([][]string, error) {
	keys, numbers := make([][]string, accounts), make(chan int)
	const workers = 16
	failures := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for n := range numbers {
				if failures[w] == nil {
					keys[n], failures[w] = createAccount(ctx, books, n, keysOf)
				}
			}
		})
	}
	for n := range accounts {
		numbers <- n
	}
	close(numbers)
	all.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func createAccount(ctx context.Context, books *ledger.Ledger, n, keysOf int) (keys []string, err error) {
	none := book.Limit(book.Unlimited)
	a, err := books.CreateAccount(ctx, fmt.Sprintf("account%d@bench.test", n), book.Terms{Rate: &none, Points: &none})
	if err != nil {
		return nil, err
	}
	for k := range keysOf {
		secret, _, err := books.CreateKey(ctx, a.ID, fmt.Sprint("key", k), book.KeyTerms{})
		if err != nil {
			return nil, err
		}
		keys = append(keys, secret)
	}
	return keys, nil
}
