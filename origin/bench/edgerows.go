package main

import (
	"context"
	"time"
)

// edgeRows compare the edge worker in workerd with a worker that does nothing but ask
// the origin, which each request has to.
func edgeRows() []row {
	return []row{
		{"GET at the edge, workerd, c = 32", "requests/s", "worker that only asks the origin", atLeast(0.8), atEdge},
		{"start: workerd to the first answer", "ms", "limit", atMost(1), startEdge},
	}
}

// startEdgeLimit is in milliseconds.
const startEdgeLimit = 60

// An edgePair is our worker and its peer.
type edgePair struct{ ours, peer *worker }

func (l *lab) startEdgePair() (p edgePair, err error) {
	s, err := l.sqlite()
	if err != nil {
		return p, err
	}
	if p.ours, err = l.edgeWorker(s); err != nil {
		return p, err
	}
	p.peer, err = l.askingWorker(s)
	return p, err
}

func atEdge(ctx context.Context, l *lab) (pair, error) {
	s, err := l.sqlite()
	if err != nil {
		return pair{}, err
	}
	workers, err := l.edgePair()
	if err != nil {
		return pair{}, err
	}
	d := load{url: workers.ours.url + single, keys: []string{s.key}, connections: 32}
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
