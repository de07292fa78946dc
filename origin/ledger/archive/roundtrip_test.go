package archive

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson/ndjsontest"
	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// SQLite to PostgreSQL to SQLite gives the same export, byte for byte.
func TestRoundTrip(t *testing.T) {
	want := string(ndjsontest.Sample(t))
	first, second, third := newSQLite(t), pgtest.NeedDatabase(t), newSQLite(t)
	for _, url := range []string{first, second, third} {
		requireImport(t, url, []byte(want))
		got := requireExport(t, url)
		require.Equal(t, want, got)
		want = got
	}
}

// PostgreSQL sorts by language unless it is asked not to.
func TestOrderDoesNotDependOnTheLocale(t *testing.T) {
	url := pgtest.NeedDatabase(t)
	requireImport(t, url, ndjsontest.Sample(t))
	language := query(t, url, `SELECT collname FROM pg_collation WHERE collname = 'en-x-icu'`)
	if len(language) == 0 {
		t.Skip("this PostgreSQL has no ICU")
	}
	s := pgtest.Need(t)
	require.NoError(t, s.Exec(t.Context(), url, `ALTER TABLE secrets ALTER COLUMN hash TYPE TEXT COLLATE "en-x-icu"`))
	require.Equal(t, string(ndjsontest.Sample(t)), requireExport(t, url))
}

// After an import the ledger works, and gives out IDs after the last one.
func TestImportedLedgerWorks(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		requireImport(t, url, ndjsontest.Sample(t))
		l, err := ledger.Open(t.Context(), url)
		require.NoError(t, err)
		defer l.Close()
		a, err := l.CreateAccount(t.Context(), "new@example.org", ledger.Terms{Plan: "free"})
		require.NoError(t, err)
		require.EqualValues(t, 9, a.ID, "IDs up to 8 were given out")
		_, key, err := l.CreateKey(t.Context(), a.ID, "new", ledger.KeyTerms{})
		require.NoError(t, err)
		require.EqualValues(t, 5, key.ID)
	})
}

func TestCompressed(t *testing.T) {
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	_, err := z.Write(ndjsontest.Sample(t))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	url := newSQLite(t)
	counts, err := Import(t.Context(), url, bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	require.EqualValues(t, 2, counts["accounts"])
	require.Equal(t, string(ndjsontest.Sample(t)), requireExport(t, url))
}

// Only an empty ledger is a target, and what a new one has is replaced.
func TestImportNeedsAnEmptyLedger(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		requireImport(t, url, ndjsontest.Encode(t, map[string][][]any{"plans": ndjsontest.Rows["plans"], "attempts": ndjsontest.Rows["attempts"]}, nil))
		requireImport(t, url, ndjsontest.Sample(t))
		_, err := Import(t.Context(), url, bytes.NewReader(ndjsontest.Sample(t)))
		require.ErrorIs(t, err, ErrNotEmpty)
		require.Equal(t, string(ndjsontest.Sample(t)), requireExport(t, url))
	})
}
