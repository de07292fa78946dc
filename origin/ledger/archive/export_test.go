package archive

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// SQLite to PostgreSQL to SQLite gives the same export, byte for byte.
func TestRoundTrip(t *testing.T) {
	want := rowsOf(string(sample(t)))
	first, second, third := newSQLite(t), pgtest.NeedDatabase(t), newSQLite(t)
	export := sample(t)
	for _, url := range []string{first, second, third} {
		requireImport(t, url, export)
		got := requireExport(t, url)
		require.Equal(t, want, rowsOf(got))
		require.True(t, url == first || got == string(export), "two exports of one schema are equal byte for byte")
		export = []byte(got)
	}
}

// PostgreSQL sorts by language unless it is asked not to.
func TestOrderDoesNotDependOnTheLocale(t *testing.T) {
	url := pgtest.NeedDatabase(t)
	requireImport(t, url, sample(t))
	language := query(t, url, `SELECT collname FROM pg_collation WHERE collname = 'en-x-icu'`)
	if len(language) == 0 {
		t.Skip("this PostgreSQL has no ICU")
	}
	s := pgtest.Need(t)
	require.NoError(t, s.Exec(t.Context(), url, `ALTER TABLE identities ALTER COLUMN subject TYPE TEXT COLLATE "en-x-icu"`))
	require.Equal(t, rowsOf(string(sample(t))), rowsOf(requireExport(t, url)))
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
		l, err := ledger.Open(t.Context(), url)
		require.NoError(t, err)
		defer l.Close()
		a, err := l.CreateAccount(t.Context(), "new@example.org", book.Terms{Plan: "free"})
		require.NoError(t, err)
		require.EqualValues(t, 9, a.ID, "IDs up to 8 were given out")
		_, key, err := l.CreateKey(t.Context(), a.ID, "new", book.KeyTerms{})
		require.NoError(t, err)
		require.EqualValues(t, 5, key.ID)
	})
}

// The names and types of all columns, of the primary keys and of the tables that
// give out IDs, by dialect. The types are those of the catalogue.
const (
	sqliteColumns = `SELECT t.name || ' ' || c.name || ' ' || lower(c.type) FROM pragma_table_list t, pragma_table_info(t.name) c
		WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'`
	postgresColumns = `SELECT table_name || ' ' || column_name || ' ' ||
		CASE data_type WHEN 'bigint' THEN 'integer' WHEN 'bytea' THEN 'blob' ELSE data_type END
		FROM information_schema.columns WHERE table_schema = current_schema() AND table_name NOT IN ('schema_version', 'writers')`
	sqliteKeys = `SELECT t.name || ' ' || group_concat(c.name, ' ' ORDER BY c.pk) FROM pragma_table_list t, pragma_table_info(t.name) c
		WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' AND c.pk > 0 GROUP BY t.name`
	postgresKeys = `SELECT table_name || ' ' || string_agg(column_name, ' ' ORDER BY ordinal_position)
		FROM information_schema.key_column_usage JOIN information_schema.table_constraints USING (constraint_schema, constraint_name, table_name)
		WHERE constraint_schema = current_schema() AND constraint_type = 'PRIMARY KEY' AND table_name NOT IN ('schema_version', 'writers') GROUP BY table_name`
	sqliteNumbered   = `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'`
	postgresNumbered = `SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES'`
)

// A migration that adds a table, a column or a type must change the catalogue: an
// export would leave it out.
func TestCatalogueHasTheWholeSchema(t *testing.T) {
	types := map[kind]string{integer: "integer", text: "text", boolean: "boolean", blob: "blob"}
	var columns, keys, numbered []string
	for _, table := range tables {
		keys = append(keys, table.name+" "+strings.Join(table.key, " "))
		for _, c := range table.columns {
			columns = append(columns, table.name+" "+c.name+" "+types[c.kind])
		}
		if table.numbered {
			numbered = append(numbered, table.name)
		}
	}
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		s, err := store.Open(t.Context(), url, nil)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		list := func(sqlite, postgres string) []string {
			if strings.HasPrefix(url, "sqlite:") {
				return query(t, url, sqlite)
			}
			return query(t, url, postgres)
		}
		want := columns
		if strings.HasPrefix(url, "sqlite:") { // which has no type for booleans
			want = slices.Clone(columns)
			for i := range want {
				want[i] = strings.Replace(want[i], " boolean", " integer", 1)
			}
		}
		require.ElementsMatch(t, want, list(sqliteColumns, postgresColumns))
		require.ElementsMatch(t, keys, list(sqliteKeys, postgresKeys))
		require.ElementsMatch(t, numbered, list(sqliteNumbered, postgresNumbered))
	})
}
