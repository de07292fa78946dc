package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// A load is a group of clients. Each sends one request after another.
type load struct {
	tally
	account   account
	at        func(client int) (address string) // called before each connection
	clients   int
	reconnect bool // use a new connection for each request; else every second client keeps its own
	next      func(client, n int) request
	patience  func() time.Duration                               // called for each request; nil: clients never hang up
	finished  func(client int, r request, o outcome) (goOn bool) // nil: clients never stop

	// gate is locked for reading during each request; locking it for writing waits
	// until no request is under way.
	gate sync.RWMutex
}

// refusedPause is the wait after a refused connection, so that clients do not spin
// while no process listens.
const refusedPause = 2 * time.Millisecond

// start runs the clients until stop is called or ctx ends. Each finishes its
// request first.
func (l *load) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { l.runOut(ctx); close(ended) }()
	return func() { cancel(); <-ended }
}

// run runs one client. Every second one keeps its connection.
func (l *load) run(ctx context.Context, id int) {
	c := &client{key: l.account.key, keepAlive: id%2 == 0 && !l.reconnect}
	defer c.close()
	for n := 0; ctx.Err() == nil; n++ {
		if r := l.next(id, n); !l.ask(c, id, r) {
			return
		}
	}
}

// ask sends one request and counts it.
func (l *load) ask(c *client, id int, r request) (goOn bool) {
	l.gate.RLock()
	if c.conn == nil {
		c.address = l.at(id)
	}
	if l.patience != nil {
		c.patience = l.patience()
	}
	o := c.send(r)
	l.count(r, o)
	l.gate.RUnlock()
	if o.kind == refused {
		time.Sleep(refusedPause)
	}
	return l.finished == nil || l.finished(id, r, o)
}

// runOut runs the clients until each has stopped by itself.
func (l *load) runOut(ctx context.Context) {
	var clients sync.WaitGroup
	for id := range l.clients {
		clients.Go(func() { l.run(ctx, id) })
	}
	clients.Wait()
}

// atRest calls do while no request is under way.
func (l *load) atRest(do func() error) error {
	l.gate.Lock()
	defer l.gate.Unlock()
	return do()
}

// always returns one address for all clients.
func always(address string) func(int) string { return func(int) string { return address } }

// buyers is the number of clients of most loads.
const buyers = 16

// awaitService sends a single until it gets 200.
func (s *session) awaitService(l *load) error {
	c := &client{address: l.at(0), key: l.account.key}
	r := single("probe@mail.example")
	for deadline := time.Now().Add(exchangeTimeout); ; time.Sleep(refusedPause) {
		o := c.send(r)
		l.count(r, o)
		if o.status == 200 {
			return nil
		}
		if time.Now().After(deadline) || s.ctx.Err() != nil {
			return fmt.Errorf("no response with 200 after %s; the last is %d: %s", exchangeTimeout, o.status, o.body)
		}
	}
}

// pause sleeps for a random time between least and most.
func pause(least, most time.Duration) { time.Sleep(least + rand.N(most-least)) }
