package origintest

import (
	"bytes"
	"strings"
	"sync"
)

// A Log collects a program's output while the test reads it. Its zero value is
// empty and ready to use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the output so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Contains reports whether the output so far contains text.
func (l *Log) Contains(text string) bool { return strings.Contains(l.String(), text) }
