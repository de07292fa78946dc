package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/module"
)

// edgeRows compare the edge worker in workerd with a worker that does nothing but ask
// the origin, which each request has to.
func edgeRows() []row {
	return []row{
		{"GET at the edge, workerd, c = 32", "requests/s", "worker that only asks the origin", atLeast(0.8), atEdge},
		{fmt.Sprintf("origin behind the edge, batch of %d, c = 4", batchSize), "µs of processor time", "batch at the origin", target{},
			behindEdge},
		{"start: workerd to the first response", "ms", "limit", atMost(1), startEdge},
	}
}

// startEdgeLimit is in milliseconds.
const startEdgeLimit = 60

// An edgePair is our worker and its peer, in front of the same origin.
type edgePair struct {
	origin     *service
	ours, peer *worker
}

func (l *lab) startEdgePair() (p edgePair, err error) {
	if p.origin, err = l.sqlite(); err != nil {
		return p, err
	}
	if p.ours, err = l.edgeWorker(p.origin); err != nil {
		return p, err
	}
	p.peer, err = l.askingWorker(p.origin)
	return p, err
}

func atEdge(ctx context.Context, l *lab) (pair, error) {
	workers, err := l.edgePair()
	if err != nil {
		return pair{}, err
	}
	d := load{url: workers.ours.url + single, keys: []string{workers.origin.key}, connections: 32}
	if err := d.warm(); err != nil {
		return pair{}, err
	}
	ours, err := l.cost(ctx, d, workers.ours.PID())
	if err != nil {
		return pair{}, err
	}
	d.url = workers.peer.url + "/"
	peer, err := l.cost(ctx, d, workers.peer.PID())
	return ours.besidePeer(peer, 1), err
}

// behindEdge compares what a batch costs the origin if a worker sends it with what it costs
// if the client does.
func behindEdge(ctx context.Context, l *lab) (p pair, err error) {
	workers, err := l.edgePair()
	if err != nil {
		return p, err
	}
	d := load{url: batch, body: batchBody(batchSize, ""), connections: 4}
	direct, err := l.costOf(ctx, workers.origin, d)
	if err != nil {
		return p, err
	}
	atWorker := *workers.origin
	atWorker.url = workers.ours.url
	behind, err := l.costOf(ctx, &atWorker, d)
	return pair{Ours: behind.used, Peer: direct.used}, err
}

// startEdge starts workerd in front of a service that runs already.
func startEdge(_ context.Context, l *lab) (p pair, err error) {
	s, err := l.sqlite()
	if err != nil {
		return p, err
	}
	if _, err := l.edgeTools(); err != nil {
		return p, err
	}
	begun := time.Now()
	w, err := l.edgeWorker(s)
	if err != nil {
		return p, err
	}
	defer w.Kill()
	err = load{url: w.url + single, keys: []string{s.key}}.sendOnce()
	return pair{Ours: milliseconds(begun), Peer: startEdgeLimit, Used: perUnit(processorTime(w.PID()), 1)}, err
}

// A worker is a worker in workerd.
type worker struct {
	*origintest.Process
	url string
}

// edgeTools are the programs of the edge rows.
type edgeTools struct {
	workerd string // path of the runtime
	bundle  string // directory of the worker
}

// findEdgeTools builds the worker, or says what is missing.
func (l *lab) findEdgeTools(ctx context.Context) (t edgeTools, err error) {
	root, err := origintest.SourceDirectory(ctx)
	if err != nil {
		return t, err
	}
	edge := filepath.Join(root, "edge")
	if _, err := exec.LookPath("node"); err != nil {
		return t, skip("Node is not installed")
	}
	find := exec.CommandContext(ctx, "node", "-p", "require('workerd').default")
	find.Dir = edge
	out, err := find.Output()
	if err != nil {
		return t, skip("workerd is missing: run npm ci in edge/")
	}
	t.workerd, t.bundle = strings.TrimSpace(string(out)), filepath.Join(l.dir, "worker")
	return t, l.buildWorker(ctx, edge, t.bundle)
}

func (l *lab) buildWorker(ctx context.Context, edge, to string) error {
	file, err := l.moduleFile()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "node", "build.mjs", "workers", file, to)
	cmd.Dir = edge
	_, err = cmd.Output()
	return origintest.Explain(err)
}

// moduleFile writes the module to a file.
func (l *lab) moduleFile() (string, error) {
	wasm, err := module.Bytes()
	if err != nil {
		return "", err
	}
	file := filepath.Join(l.dir, "addrspec.wasm")
	return file, os.WriteFile(file, wasm, 0o600)
}

// worker starts workerd with a configuration, which may be preceded by flags. Its first
// line says the port.
func (l *lab) worker(config []string, settings ...string) (w *worker, err error) {
	tools, err := l.edgeTools()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(tools.workerd, append([]string{"serve", "--socket-addr", "http=127.0.0.1:0", "--control-fd=3"}, config...)...)
	cmd.Env = append(os.Environ(), settings...)
	w = &worker{}
	if w.Process, err = l.start(cmd, origintest.OnDescriptor3); err != nil {
		return nil, err
	}
	var event struct{ Port int }
	if err := json.Unmarshal([]byte(w.FirstLine), &event); err != nil {
		return nil, fmt.Errorf("workerd wrote %q: %w", w.FirstLine, err)
	}
	w.url = fmt.Sprintf("http://127.0.0.1:%d", event.Port)
	return w, nil
}

// edgeWorker starts our worker in front of the service.
func (l *lab) edgeWorker(s *service) (*worker, error) {
	tools, err := l.edgeTools()
	if err != nil {
		return nil, err
	}
	return l.worker([]string{"--binary", filepath.Join(tools.bundle, "workerd.bin")}, "ADDRSPEC_ORIGIN="+s.url, "ADDRSPEC_EDGE_SECRET="+edgeSecret)
}

// askingConfig is a worker that only asks the origin what our worker asks for each
// request (origin/api/edge.go), and passes the reply on.
const askingConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "asking", worker = (
      modules = [(name = "worker", esModule = embed "asking.js")],
      compatibilityDate = "2026-09-01",
      bindings = [(name = "ORIGIN", fromEnvironment = "ORIGIN"), (name = "SECRET", fromEnvironment = "SECRET")],
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
      headers: { "Content-Type": "application/json", "X-Edge-Secret": env.SECRET, "X-API-Key": request.headers.get("X-API-Key") },
      body: '{"operation":"single","points":1,"tally":{},"domains":[{"name":"mail.example","addresses":1,"tally":{"valid":1}}]}',
    });
  },
};
`

// askingWorker starts the peer of our worker.
func (l *lab) askingWorker(s *service) (*worker, error) {
	config := filepath.Join(l.dir, "asking.capnp")
	if err := os.WriteFile(config, []byte(askingConfig), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(l.dir, "asking.js"), []byte(askingScript), 0o600); err != nil {
		return nil, err
	}
	return l.worker([]string{config}, "ORIGIN="+s.url, "SECRET="+edgeSecret)
}
