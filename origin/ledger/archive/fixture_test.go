package archive

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
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

// sampleRows has rows in every table: null and all kinds of values, IDs with gaps,
// text that sorts differently by bytes and by language.
var sampleRows = map[string][][]any{
	"plans":    {{"Zebra", int64(-1), int64(-1), false, int64(0)}, {"free", int64(1), int64(1000), true, int64(1 << 40)}, {"Ärzte", int64(7), int64(5), true, int64(1)}},
	"accounts": {{int64(2), "b@example.org", "free", nil, nil, int64(5), int64(24322), int64(9), int64(1795000000123456789), nil, nil, int64(3)}, {int64(5), "ä<&>\u2028\"\\\t@example.org", "Ärzte", int64(-1), int64(0), int64(5), int64(0), int64(0), int64(0), true, int64(77), int64(0)}},
	"keys":     {{int64(3), int64(2), "laptop", "ask_ab", int64(1), nil, nil, nil, nil, int64(0), int64(0), int64(0), "https://shop.example", false}, {int64(4), int64(2), "", "ask_cd", int64(1), int64(2), int64(3), int64(0), int64(9), int64(24322), int64(4), int64(-5), "", true}},
	"secrets":  {{"B" + sampleHash, int64(3), nil}, {"a" + sampleHash, int64(3), int64(8)}},
	"usage":    {{int64(2), int64(3), int64(20757), int64(9), int64(2), int64(1), int64(4), int64(5), int64(1), int64(1), int64(1), int64(1), int64(1), int64(1), int64(1)}},
	"answers":  {{int64(2), "r1", "h", []byte{}, int64(0), int64(9)}, {int64(2), "r2", "h", []byte{0, 255, '\n', '{'}, int64(4), int64(9)}},
	"users":    {{int64(2), "Bea", "$argon2id$x", true, "SECRET", int64(58), "handle", int64(1)}},
	"sessions": {{int64(9), sampleHash, int64(2), "Firefox on Linux", int64(1), int64(2), int64(3), int64(4), true}},
	"links":    {{sampleHash, int64(2), int64(5)}}, "recovery_codes": {{int64(2), "A"}, {int64(2), "b"}},
	"passkeys":   {{"id", int64(2), "phone", `{"k":"v"}`, int64(1), int64(2)}},
	"identities": {{"https://id.example", "B", int64(2), int64(1)}, {"https://id.example", "a", int64(2), int64(1)}},
	"challenges": {{sampleHash, "{}", int64(4)}}, "attempts": {{sampleHash, int64(6)}},
	"audit":      {{int64(1), int64(2), int64(3), "owner", "key.create", "3 laptop"}},
	"webhooks":   {{int64(2), "https://hook.example/x", "whsec_x", "", int64(0), int64(0), int64(1)}},
	"deliveries": {{int64(2), int64(24322), int64(80), "msg_1", "{}", int64(1), int64(2), int64(1), int64(0), "503"}},
}

const sampleHash = "0000000000000000000000000000000000000000000000000000000000000000"

// sampleLast is the highest ID given out; nothing was ever given out for others.
var sampleLast = map[string]int64{"accounts": 8, "keys": 4, "sessions": 9, "audit": 1}

// sample returns an export of the sample rows.
func sample(t testing.TB) []byte { return encodeRows(t, sampleRows, sampleLast) }

func encodeRows(t testing.TB, rows map[string][][]any, last map[string]int64) []byte {
	var out bytes.Buffer
	e := newEncoder(&out)
	require.NoError(t, e.header())
	for _, table := range tables {
		require.NoError(t, e.begin(table, last[table.name]))
		for _, row := range rows[table.name] {
			require.NoError(t, e.row(table, row))
		}
	}
	require.NoError(t, e.end())
	return out.Bytes()
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
	_, err := Import(t.Context(), url, bytes.NewReader(export))
	require.NoError(t, err)
}

func requireExport(t testing.TB, url string) string {
	t.Helper()
	var out bytes.Buffer
	_, err := Export(t.Context(), url, &out)
	require.NoError(t, err)
	return out.String()
}

// query returns the rows of one column.
func query(t testing.TB, url, statement string) (list []string) {
	t.Helper()
	driver, source := "pgx", url
	if path, ok := sqlitePath(url); ok {
		driver, source = "sqlite", fileURL(path, "mode=rw", "busy_timeout(5000)")
	}
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), statement)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var one string
		require.NoError(t, rows.Scan(&one))
		list = append(list, one)
	}
	require.NoError(t, rows.Err())
	return list
}

// execSQLite runs a statement on an SQLite file.
func execSQLite(t testing.TB, url, statement string) {
	t.Helper()
	path, _ := sqlitePath(url)
	db, err := sql.Open("sqlite", fileURL(path, "mode=rw", "busy_timeout(5000)"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}

func pathOf(url string) string { return strings.TrimPrefix(url, "sqlite:") }
