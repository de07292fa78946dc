package archive

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
	"github.com/addrspec/addrspec/origin/ledger/pgtest"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// The names and types of all columns, of the primary keys and of the tables that
// give out IDs, by dialect. The types are those of the catalogue.
const (
	sqliteColumns = `SELECT t.Name || ' ' || c.Name || ' ' || lower(c.type) FROM pragma_table_list t, pragma_table_info(t.Name) c
		WHERE t.schema = 'main' AND t.Name NOT LIKE 'sqlite_%'`
	postgresColumns = `SELECT table_name || ' ' || column_name || ' ' ||
		CASE data_type WHEN 'bigint' THEN 'integer' WHEN 'bytea' THEN 'blob' ELSE data_type END
		FROM information_schema.columns WHERE table_schema = current_schema() AND table_name NOT IN ('schema_version', 'writers')`
	sqliteKeys = `SELECT t.Name || ' ' || group_concat(c.Name, ' ' ORDER BY c.pk) FROM pragma_table_list t, pragma_table_info(t.Name) c
		WHERE t.schema = 'main' AND t.Name NOT LIKE 'sqlite_%' AND c.pk > 0 GROUP BY t.Name`
	postgresKeys = `SELECT table_name || ' ' || string_agg(column_name, ' ' ORDER BY ordinal_position)
		FROM information_schema.key_column_usage JOIN information_schema.table_constraints USING (constraint_schema, constraint_name, table_name)
		WHERE constraint_schema = current_schema() AND constraint_type = 'PRIMARY KEY' AND table_name NOT IN ('schema_version', 'writers') GROUP BY table_name`
	sqliteNumbered   = `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'`
	postgresNumbered = `SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES'`
)

// A migration that adds a table, a column or a type must change the catalogue: an
// export would leave it out.
func TestCatalogueHasTheWholeSchema(t *testing.T) {
	var columns, keys, numbered []string
	for _, table := range ndjson.Tables {
		keys = append(keys, table.Name+" "+strings.Join(table.Key, " "))
		for _, c := range table.Columns {
			columns = append(columns, table.Name+" "+c.Name+" "+string(c.Kind))
		}
		if table.Numbered {
			numbered = append(numbered, table.Name)
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
		version := list("PRAGMA user_version", "SELECT max(version) FROM schema_version")
		require.Equal(t, []string{"5"}, version, "the constant schema")
		require.EqualValues(t, 5, ndjson.Schema)
	})
}

// SQLite has no booleans: what the catalogue calls one must be 0 or 1 there.
func TestBooleansAreBooleansInBothDatabases(t *testing.T) {
	url := imported(t)
	for _, table := range ndjson.Tables {
		for _, c := range table.Columns {
			if c.Kind == ndjson.Boolean {
				require.Empty(t, query(t, url, "SELECT "+c.Name+" FROM "+table.Name+" WHERE "+c.Name+" NOT IN (0, 1)"), table.Name)
			}
		}
	}
}
