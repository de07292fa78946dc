package archive

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/policy"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(workerVariable); job != "" {
		worker(strings.Fields(job))
		return
	}
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

// newSQLite returns the URL of a file that does not exist yet.
func newSQLite(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "ledger.db") }

// imported returns the URL of a new SQLite ledger with the sample rows.
func imported(t testing.TB) string {
	url := newSQLite(t)
	requireImport(t, url, sample(t))
	return url
}

func requireImport(t testing.TB, url string, export []byte) {
	t.Helper()
	must(Import(t.Context(), url, bytes.NewReader(export), parsePolicy))(t)
}

func requireExport(t testing.TB, url string) string {
	t.Helper()
	var out bytes.Buffer
	must(Export(t.Context(), url, &out))(t)
	return out.String()
}

// query runs a statement without the ledger, and returns the rows of one column.
func query(t testing.TB, url, statement string) (list []string) {
	t.Helper()
	var db *sql.DB
	var err error
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		db, err = openFile(path, "mode=rwc")
	} else {
		db, err = sql.Open("pgx", url)
	}
	require.NoError(t, err)
	defer db.Close()
	rows := must(db.QueryContext(t.Context(), statement))(t)
	defer rows.Close()
	for rows.Next() {
		var one string
		require.NoError(t, rows.Scan(&one))
		list = append(list, one)
	}
	require.NoError(t, rows.Err())
	return list
}

func pathOf(url string) string { return strings.TrimPrefix(url, "sqlite:") }

func parsePolicy(document string) error {
	_, err := policy.Parse([]byte(document))
	return err
}

// must returns a result that a test cannot do without, as in must(l.Plans(ctx))(t).
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}
