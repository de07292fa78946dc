package main

import (
	"bytes"
	"strings"
	"sync"
)

// tail keeps what a service wrote to its log.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *tail) holds(words string) bool { return strings.Contains(l.String(), words) }
