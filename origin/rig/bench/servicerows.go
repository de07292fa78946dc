package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

const (
	usualAddress = "jane.doe@mail.example"
	single       = "/v1/email/" + usualAddress
	batch        = "/v1/emails"
	batchSize    = 64
)

// batchBody has addresses of as many domains, whose names end with suffix.
func batchBody(suffix string) string {
	var emails []string
	for n := range batchSize {
		emails = append(emails, fmt.Sprintf(`"jane.doe%d@d%d%s.bulk.example"`, n, n, suffix))
	}
	return `{"emails":[` + strings.Join(emails, ",") + `]}`
}

// httpRows compare GETs of an address whose MX is cached, and batches of cached domains, each
// charged durably before its response, with net/http alone. A GET on one connection waits for a
// flush of the disk, so its peer is the flush alone.
func httpRows() (list []row) {
	for _, d := range []struct {
		name   string
		single float64 // target of the ratio of a GET
		start  func(*lab) *service
	}{
		{"SQLite", 0.5, func(l *lab) *service { return l.sqlite() }},
		{"PostgreSQL", 0.4, func(l *lab) *service { return l.postgres() }},
	} {
		besideBare := func(l *lab, ours load, units float64) pair {
			s, bare := d.start(l), l.bare()
			ours.Address, ours.Key = s.address, s.key
			c := l.cost(ours, s.PID())
			peer := load{Address: bare.FirstLine, Target: "/", Connections: ours.Connections}
			return c.besidePeer(l.cost(peer, bare.PID()), units)
		}
		for _, c := range []int{32, 128, 512} {
			list = append(list, row{fmt.Sprintf("GET, %s, c = %d", d.name, c), "requests/s", "bare net/http",
				atLeast(d.single),
				func(l *lab) pair { return besideBare(l, load{Target: single, Connections: c}, 1) }})
		}
		list = append(list, row{fmt.Sprintf("batch of %d, %s, c = 32", batchSize, d.name), "addresses/s",
			"bare net/http, requests/s", atLeast(4), func(l *lab) pair {
				return besideBare(l, load{Target: batch, Body: batchBody(""), Connections: 32}, batchSize)
			}})
	}
	return append(list, row{"GET, SQLite, c = 1", "requests/s", "flushes/s", target{}, func(l *lab) pair {
		s, before := l.sqlite(), l.flushes() // before and after: of all figures, a disk's vary most
		c := l.cost(load{Address: s.address, Key: s.key, Target: single, Connections: 1}, s.PID())
		return c.besidePeer(cost{rate: (before + l.flushes()) / 2}, 1)
	}})
}

// flushes returns how often a second the disk of the databases takes a write and its flush, one
// after another, of what SQLite's log gets for a charge: two pages with their headers.
func (l *lab) flushes() float64 {
	const size = 2 * (4096 + 24)
	f, err := os.CreateTemp(l.dir, "flush-")
	l.check(err)
	defer os.Remove(f.Name())
	defer f.Close()
	data, begun, n := make([]byte, size), time.Now(), 0
	for ; time.Since(begun) < l.span/2; n++ {
		_, err := f.WriteAt(data, int64(n%64)*size)
		l.check(err)
		l.check(f.Sync())
	}
	return float64(n) / time.Since(begun).Seconds()
}

// startEdgeLimit is in milliseconds.
const startEdgeLimit = 60

// edgeRows compare the edge worker in workerd with a worker that does nothing but ask
// the origin, which each request has to.
func edgeRows() []row {
	return []row{
		{"GET at the edge, workerd, c = 32", "requests/s", "worker that only asks the origin", atLeast(0.8),
			func(l *lab) pair {
				e := l.edge()
				d := load{Address: e.ours.address, Key: l.sqlite().key, Target: single, Connections: 32}
				ours := l.cost(d, e.ours.PID())
				d.Address = e.peer.address
				return ours.besidePeer(l.cost(d, e.peer.PID()), 1)
			}},
		{"start: workerd to the first response", "ms", "limit", atMost(1), func(l *lab) pair {
			e := l.edge()
			begun := time.Now()
			w := l.worker(e.workerd, e.settings, e.config...)
			defer w.Kill()
			return l.firstResponse(begun, w, load{Target: single, Key: l.sqlite().key}, startEdgeLimit)
		}},
	}
}

// An edge is our worker and its peer, in front of the service on SQLite.
type edge struct {
	workerd          string // path of the runtime
	config, settings []string
	ours, peer       *service
}

// askingConfig is a worker that only asks the origin what our worker asks for each
// request (origin/api/edge.go), and passes the reply on.
const askingConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "asking", worker = (
      modules = [(name = "worker", esModule = embed "asking.js")],
      compatibilityDate = "2026-09-01",
      bindings = [(name = "ORIGIN", fromEnvironment = "ADDRSPEC_ORIGIN"), (name = "SECRET",
	fromEnvironment = "ADDRSPEC_EDGE_SECRET")],
    )),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "asking")],
);
`

const askingScript = `export default {
  fetch(request, env) {
    return fetch(env.ORIGIN + "/v1/edge/admit", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Edge-Secret": env.SECRET,
	"X-API-Key": request.headers.get("X-API-Key") },
      body: '{"operation":"single","points":1,"tally":{},"domains":[{"name":"mail.example","addresses":1,"tally":{"valid":1}}]}',
    });
  },
};
`

// startEdge builds the worker and starts both, or says what is missing.
func (l *lab) startEdge() (e edge) {
	root, err := origintest.SourceDirectory(l.ctx)
	l.check(err)
	node := func(args ...string) (string, error) {
		cmd := exec.CommandContext(l.ctx, "node", args...)
		cmd.Dir = filepath.Join(root, "edge")
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), origintest.Explain(err)
	}
	e.workerd, err = node("-p", "require('workerd').default")
	if err != nil {
		l.skip("Node or workerd is missing: run npm ci in edge/")
	}
	bundle, asking := filepath.Join(l.dir, "worker"), filepath.Join(l.dir, "asking.capnp")
	_, err = node("build.mjs", "workers", l.moduleFile(), bundle)
	l.check(err)
	l.check(os.WriteFile(asking, []byte(askingConfig), 0o600))
	l.check(os.WriteFile(filepath.Join(l.dir, "asking.js"), []byte(askingScript), 0o600))
	e.config = []string{"--binary", filepath.Join(bundle, "workerd.bin")}
	e.settings = []string{"ADDRSPEC_ORIGIN=http://" + l.sqlite().address, "ADDRSPEC_EDGE_SECRET=" + edgeSecret}
	e.ours, e.peer = l.worker(e.workerd, e.settings, e.config...), l.worker(e.workerd, e.settings, asking)
	return e
}

// worker starts workerd with a configuration. Its first line says the port.
func (l *lab) worker(workerd string, settings []string, config ...string) *service {
	cmd := exec.Command(workerd, append([]string{"serve", "--socket-addr", "http=127.0.0.1:0", "--control-fd=3"},
		config...)...)
	cmd.Env = append(os.Environ(), settings...)
	p := l.start(cmd, origintest.OnDescriptor3)
	var event struct{ Port int }
	l.check(json.Unmarshal([]byte(p.FirstLine), &event))
	return &service{Process: p, address: fmt.Sprintf("127.0.0.1:%d", event.Port)}
}

// processRows compare the time from the start of a process to its first response, and the resident
// memory of the service, with fixed limits.
func processRows() []row {
	return []row{
		{"start: check, one address", "ms", "limit", atMost(1), startCheck},
		{"start: serve to the first response", "ms", "limit", atMost(1), startServe},
		{"memory at the start", "MB", "limit", atMost(1), func(l *lab) pair {
			s := l.newService()
			defer s.Kill()
			return pair{Ours: l.memory(s) / megabyte, Peer: 45}
		}},
		{"memory after load", "MB", "limit", atMost(1), func(l *lab) pair {
			s := l.newService()
			defer s.Kill()
			for _, d := range []load{{Target: single}, {Target: batch, Body: batchBody("")}} {
				d.Address, d.Key, d.Connections = s.address, s.key, 128
				l.cost(d, s.PID())
			}
			time.Sleep(l.span / 2)
			return pair{Ours: l.memory(s) / megabyte, Peer: 80}
		}},
		{"memory of each of 4,000 idle connections", "KiB", "limit", atMost(1), memoryOfConnections},
	}
}

const megabyte = 1e6

// memory returns the resident memory of the service in bytes.
func (l *lab) memory(s *service) float64 {
	size := s.Memory("VmRSS")
	if size == 0 {
		l.skip("this system has no /proc")
	}
	return float64(size)
}

// firstResponse returns the time since begun until a service that was started then has responded.
func (l *lab) firstResponse(begun time.Time, s *service, d load, limit float64) pair {
	d.Address, d.Connections = s.address, 1
	_, err := d.send()
	l.check(err)
	return pair{Ours: microseconds(time.Since(begun)) / 1000, Peer: limit, Used: microseconds(processorTime(s.PID()))}
}

// startCheck is the command on one address; compiled code is in the user's cache.
func startCheck(l *lab) pair {
	cmd := exec.CommandContext(l.ctx, l.program, "check", "--offline", usualAddress)
	begun := time.Now()
	_, err := cmd.Output()
	took := time.Since(begun)
	l.check(origintest.Explain(err))
	return pair{Ours: microseconds(took) / 1000, Peer: 25,
		Used: microseconds(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())}
}

// startServe starts the service on a database that exists and asks GET /v1/usage,
// which needs a key and the ledger, but no resolver.
func startServe(l *lab) pair {
	database := "sqlite:" + filepath.Join(l.dir, "start.db")
	if l.startKey == "" {
		l.startKey = l.account(database)
	}
	begun := time.Now()
	s := l.serve(database)
	defer s.Kill()
	return l.firstResponse(begun, s, load{Target: "/v1/usage", Key: l.startKey}, 150)
}

// memoryOfConnections opens nearly as many connections as a service takes by default. Each has had
// a response.
func memoryOfConnections(l *lab) pair {
	const idle, spare = 4000, 200 // spare files are for what a process opens besides
	var files syscall.Rlimit
	l.check(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)) // Go has raised it as far as it may
	if files.Cur < idle+spare {
		l.skip("a process may open %d files: raise that with ulimit -n", files.Cur)
	}
	s := l.newService()
	defer s.Kill()
	before := l.memory(s)
	request := origintest.Request{Method: "GET", Target: "/v1/usage", Header: []string{"X-API-Key: " + s.key},
		KeepAlive: true}
	for range idle {
		conn, err := origintest.Connect(s.address, time.Minute)
		l.check(err)
		defer conn.Close()
		_, err = conn.Write([]byte(request.Text("bench")))
		l.check(err)
		_, _, err = conn.ReadResponse("GET")
		l.check(err)
	}
	return pair{Ours: (l.memory(s) - before) / idle / 1024, Peer: 25}
}
