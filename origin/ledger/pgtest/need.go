package pgtest

import (
	"errors"
	"sync"
	"testing"
)

var shared = sync.OnceValues(func() (*Server, error) {
	s, err := Start()
	if err == nil {
		removeShared = s.Close
	}
	return s, err
})

var removeShared = func() {}

// Need returns the server that all tests of a package share, or skips the test
// where PostgreSQL is not installed. The package's TestMain calls RemoveShared
// at the end.
func Need(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// RemoveShared stops the shared server, if one was started.
func RemoveShared() { removeShared() }
