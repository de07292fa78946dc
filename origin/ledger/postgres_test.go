package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// A server is the PostgreSQL that all tests share.
type server struct{ *pgtest.Server }

func needPostgres(t testing.TB) server { return server{pgtest.Need(t)} }

func (s server) emptyDatabase(t testing.TB) string {
	url, err := s.EmptyDatabase(t.Context())
	require.NoError(t, err)
	return url
}

// sql runs a statement beside the ledger.
func (s server) sql(t *testing.T, url, query string) {
	require.NoError(t, s.Exec(t.Context(), url, query))
}

func (s server) cutConnections(t *testing.T) { require.NoError(t, s.CutConnections(t.Context())) }
