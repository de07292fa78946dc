package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// By how many percent the heap may grow before a collection.
const (
	// startGrowth is for the start of the module. It lets the heap reach 32 MB before the
	// first collection, since the runtime counts from 4 MB, and most of what a start
	// allocates remains in use. Measured on `check` of one address: 21.6 ms of processor
	// time with it, 25.4 with Go's 100, 24.0 with 100 and 32 MB that are never touched
	// (medians of 60 runs in turn).
	startGrowth = 800
	usualGrowth = 100
	// serveGrowth is for serve. Each instance of the module counts with its 11 MB of
	// addresses, of which it touches 2 MB, so Go's 100 % let the heap grow by more than the
	// service has in use. Measured after load: 76 MB at 40 %, 79 at 50 %, 97 at 100 %. At
	// 40 %, 32, 128 and 512 connections have 0.98, 0.95 and 0.96 of their GETs answered a
	// second (medians of 8 runs in turn, quiet machine). GOGC=100 gives these back where
	// memory allows.
	serveGrowth = 40
)

// A collector sets the growth, unless GOGC does.
type collector struct {
	mu     sync.Mutex
	growth int // after the start
}

var processCollector = &collector{growth: usualGrowth}

// begin sets startGrowth until the first collection.
func (c *collector) begin() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(startGrowth)
	// The first collection finds that nothing uses this value.
	runtime.AddCleanup(new([16]byte), func(c *collector) { c.end(0) }, c)
}

// end ends the start: growth applies from now on, or what applied if it is 0.
func (c *collector) end(growth int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if growth != 0 {
		c.growth = growth
	}
	debug.SetGCPercent(c.growth)
}
