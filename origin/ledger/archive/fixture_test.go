package archive

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/policy"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func TestMain(m *testing.M) { ledgertest.Main(m) }

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
	rows := must(pgtest.SQL(t, url).QueryContext(t.Context(), statement))(t)
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
	_, err := policy.Parse([]byte(document), core.New(lists.Default()))
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

// newLedger creates a ledger with an account, and returns the secret of a key without limits.
func newLedger(t testing.TB, url string) (secret string) {
	l := must(ledger.Open(t.Context(), url))(t)
	defer l.Close()
	return ledgertest.NewAccount(t, l, "load@example.org")
}

// grow adds audit rows to an SQLite ledger, about 0.2 MB a thousand.
func grow(t testing.TB, url string, rows int) {
	query(t, url, "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < "+strconv.Itoa(rows)+`)
		INSERT INTO audit (account, at_ns, actor, action, subject) SELECT 1, i, 'owner', 'key.create', hex(randomblob(90)) FROM n`)
}

// requireAddsUp checks that an account's points are the sum of its usage rows.
func requireAddsUp(t testing.TB, url string) (points int) {
	t.Helper()
	rows := query(t, url, "SELECT used FROM accounts WHERE id = 1 AND used = (SELECT sum(points) FROM usage WHERE account = 1)")
	require.Len(t, rows, 1, "the points differ from the sum of the usage rows")
	return must(strconv.Atoi(rows[0]))(t)
}
