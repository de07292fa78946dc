package main

import (
	"os"
	"runtime/debug"
)

// growth is by how many percent the heap of serve may grow before a collection. Each
// instance of the module counts with its 11 MB of addresses, of which it touches 2 MB, so
// Go's 100 % let the heap grow by more than the service has in use. Measured after load:
// 83 MB in place of 102 at 50 %, 76 at 30 %, and at 40 % the same processor time for a
// GET and for an address of a batch.
const growth = 40

// limitGrowth sets the growth, unless GOGC does.
func limitGrowth() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
}
