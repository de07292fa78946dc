package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// A load is clients that send one request after another.
type load struct {
	tally
	account  account
	at       func(client int) (address string) // asked before each connection
	clients  int
	fresh    bool // each request has a connection of its own; else every second client keeps its
	next     func(client, n int) request
	patience func() time.Duration                               // drawn for each request; nil: clients never hang up
	finished func(client int, r request, o outcome) (goOn bool) // nil: clients never end

	// gate is held for reading by each request under way; locking it waits
	// until the service is idle.
	gate sync.RWMutex
}

// refusedPause keeps clients from spinning while no process listens.
const refusedPause = 2 * time.Millisecond

// start runs the clients until stop is called, which lets each finish its
// request, or until ctx ends.
func (l *load) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { l.runOut(ctx); close(ended) }()
	return func() { cancel(); <-ended }
}

// run is one client. Every second one keeps its connection.
func (l *load) run(ctx context.Context, id int) {
	c := &client{key: l.account.key, keepAlive: id%2 == 0 && !l.fresh}
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
	if o.fate == refused {
		time.Sleep(refusedPause)
	}
	return l.finished == nil || l.finished(id, r, o)
}

// runOut runs the clients until each has ended by itself.
func (l *load) runOut(ctx context.Context) {
	var clients sync.WaitGroup
	for id := range l.clients {
		clients.Go(func() { l.run(ctx, id) })
	}
	clients.Wait()
}

// atRest runs do while no request is under way.
func (l *load) atRest(do func() error) error {
	l.gate.Lock()
	defer l.gate.Unlock()
	return do()
}

// always is one address for all clients.
func always(address string) func(int) string { return func(int) string { return address } }

const buyers = 16

// awaitAnswer sends a single until it is answered with 200.
func (s *scene) awaitAnswer(l *load) error {
	c := &client{address: l.at(0), key: l.account.key}
	r := single("probe@mail.example")
	for deadline := time.Now().Add(exchangeLimit); ; time.Sleep(refusedPause) {
		o := c.send(r)
		l.count(r, o)
		if o.status == 200 {
			return nil
		}
		if time.Now().After(deadline) || s.ctx.Err() != nil {
			return fmt.Errorf("no answer of 200 after %s; the last is %d: %s", exchangeLimit, o.status, o.body)
		}
	}
}

// pause sleeps for a random time.
func pause(least, most time.Duration) { time.Sleep(least + rand.N(most-least)) }
