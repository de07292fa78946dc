package archive

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// SQLite to PostgreSQL to SQLite gives the same export, byte for byte, also where PostgreSQL
// sorts by language unless it is asked not to.
func TestRoundTrip(t *testing.T) {
	export, want := sample(t), rowsOf(string(sample(t)))
	first, second, third := newSQLite(t), pgtest.NeedDatabase(t), newSQLite(t)
	for _, url := range []string{first, second, third} {
		requireImport(t, url, export)
		if url == second && len(query(t, url, "SELECT collname FROM pg_collation WHERE collname = 'en-x-icu'")) > 0 {
			query(t, url, `ALTER TABLE identities ALTER COLUMN subject TYPE TEXT COLLATE "en-x-icu"`)
		}
		got := requireExport(t, url)
		require.Equal(t, want, rowsOf(got))
		require.True(t, url == first || got == string(export), "two exports of one schema are equal byte for byte")
		export = []byte(got)
	}
}

// Only an empty ledger is a target, and what a new one has is replaced. After an import the
// ledger gives out IDs after the last one.
func TestImportNeedsAnEmptyLedger(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		requireImport(t, url, encode(t, map[string][]string{"plans": sampleRows["plans"], "attempts": sampleRows["attempts"]}, nil))
		requireImport(t, url, sample(t))
		_, err := Import(t.Context(), url, bytes.NewReader(sample(t)), parsePolicy)
		require.ErrorContains(t, err, "has accounts already")
		require.Equal(t, rowsOf(string(sample(t))), rowsOf(requireExport(t, url)))
		l := must(ledger.Open(t.Context(), url))(t)
		defer l.Close()
		a := must(l.CreateAccount(t.Context(), "new@example.org", book.Terms{Plan: "free"}))(t)
		require.EqualValues(t, 9, a.ID, "IDs up to 8 were given out")
		_, key, err := l.CreateKey(t.Context(), a.ID, "new", book.KeyTerms{})
		require.NoError(t, err)
		require.EqualValues(t, 5, key.ID)
	})
}

// The tables, names and types of all columns, by dialect.
const (
	sqliteColumns = `SELECT t.name || ' ' || c.name || ' ' || lower(c.type)
		FROM pragma_table_list t, pragma_table_info(t.name) c WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'`
	postgresColumns = `SELECT table_name || ' ' || column_name || ' ' ||
		CASE data_type WHEN 'bigint' THEN 'integer' WHEN 'bytea' THEN 'blob' ELSE data_type END
		FROM information_schema.columns WHERE table_schema = current_schema() AND table_name NOT IN ('schema_version', 'writers')`
)

// A migration that adds a table, a column or a type must change the catalogue: an
// export would leave it out.
func TestCatalogueHasTheWholeSchema(t *testing.T) {
	types := map[kind]string{integer: "integer", text: "text", boolean: "boolean", blob: "blob"}
	var columns, keys, numbered []string
	for _, table := range tables {
		keys = append(keys, table.name+" "+strings.Join(table.key, " "))
		for i, column := range table.columns {
			columns = append(columns, table.name+" "+column+" "+types[table.kinds[i]])
		}
		if table.numbered {
			numbered = append(numbered, table.name)
		}
	}
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		require.NoError(t, must(store.Open(t.Context(), url, nil))(t).Close())
		if !strings.HasPrefix(url, "sqlite:") {
			require.ElementsMatch(t, columns, query(t, url, postgresColumns))
			return
		}
		integers := strings.ReplaceAll(strings.Join(columns, "\n"), " boolean", " integer") // SQLite has no booleans
		require.ElementsMatch(t, strings.Split(integers, "\n"), query(t, url, sqliteColumns))
		require.ElementsMatch(t, keys, query(t, url, `SELECT t.name || ' ' || group_concat(c.name, ' ' ORDER BY c.pk)
			FROM pragma_table_list t, pragma_table_info(t.name) c
			WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' AND c.pk > 0 GROUP BY t.name`))
		require.ElementsMatch(t, numbered,
			query(t, url, "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"))
	})
}
