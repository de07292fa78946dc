package main

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

// wholeLog is the log with a line for each request that was answered so far:
// lines are written in the background.
func (s *service) wholeLog(t *testing.T) string {
	last := rand.Text()
	s.send(t, http.MethodGet, "/healthz", "", "", http.Header{"X-Request-Id": {last}})
	require.Eventually(t, func() bool { return s.log.holds(last) }, 10*time.Second, time.Millisecond)
	return s.log.String()
}
