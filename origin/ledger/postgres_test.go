package ledger

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// A server is the PostgreSQL that all tests share; the first that needs it
// starts it.
type server struct{ *pgtest.Server }

var startPostgres = sync.OnceValues(func() (*pgtest.Server, error) {
	s, err := pgtest.Start()
	if err == nil {
		removePostgres = s.Close
	}
	return s, err
})

// removePostgres stops the server, where one was started.
var removePostgres = func() {}

// needPostgres returns the server, or skips the test where it is not installed.
func needPostgres(t testing.TB) server {
	s, err := startPostgres()
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	return server{s}
}

func (s server) emptyDatabase(t testing.TB) string {
	url, err := s.EmptyDatabase(t.Context())
	require.NoError(t, err)
	return url
}

func (s server) emptySchema(t testing.TB) string {
	name, err := s.EmptySchema(t.Context())
	require.NoError(t, err)
	return name
}

// sql runs a statement beside the ledger.
func (s server) sql(t *testing.T, url, query string) {
	require.NoError(t, s.Exec(t.Context(), url, query))
}

func (s server) cutConnections(t *testing.T) { require.NoError(t, s.CutConnections(t.Context())) }
