package main

import (
	"os"
	"time"
)

// flushSize is what SQLite's log gets for a charge: two pages with their headers.
const flushSize = 2 * (4096 + 24)

// flushes returns how often a second the disk of the databases takes a write of
// flushSize and its flush, one after another.
func (l *lab) flushes() (float64, error) {
	f, err := os.CreateTemp(l.dir, "flush-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	data, begun, n := make([]byte, flushSize), time.Now(), 0
	for ; time.Since(begun) < l.span/2; n++ {
		if _, err := f.WriteAt(data, int64(n%64)*flushSize); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(begun).Seconds(), nil
}
