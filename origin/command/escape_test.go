package command

import (
	"database/sql"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEscapeFormula(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"jane@example.org": "jane@example.org",
		"=1+1":             "'=1+1",
		"\t=1":             "'\uFFFD=1",
		"\r=1":             "'\uFFFD=1",
	} {
		require.Equal(t, want, escapeFormula(text), "%q", text)
	}
}

func FuzzPrintCSV(f *testing.F) {
	for _, text := range []string{"=1", "\x1b[2J", "a\tb", "\u202e", "\xff", ";;=", "\r\n=", "'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var out strings.Builder
		require.NoError(t, (&tableFlag{To: "csv"}).print(&out, []string{"a", "b"}, [][]any{{text, int64(-1)}}))
		records, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		require.NoError(t, err)
		require.Len(t, records, 2)
		require.Equal(t, "-1", records[1][1], "a number is not escaped")
		for _, cell := range strings.FieldsFunc(records[1][0], func(r rune) bool { return r == ';' || r == ',' }) {
			require.False(t, strings.ContainsAny(cell[:1], "=+-@\t\r\n\x00"), "%q", cell)
		}
	})
}

// Emails and names that callers chose are escaped in every list, for spreadsheets
// and for terminals.
func TestListsEscapeNames(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", "127.0.0.1:1")
	on := func(args ...string) string {
		out, err, code := operator(t, append(args, "--database", s.database)...)
		require.Zero(t, code, err)
		return out
	}
	const email, name = `=hyperlink("http://x.example","a")@example.org`, `=hyperlink("http://x.example";"b")`
	on("account", "create", "--email", email)
	on("key", "create", "--account", email, "--name", name)
	cell := func(column int, args ...string) string {
		rows, err := csv.NewReader(strings.NewReader(on(append(args, "--to", "csv")...))).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 2)
		return rows[1][column]
	}
	require.Equal(t, "'"+email, cell(1, "account", "list"))
	require.Equal(t, "'"+name, cell(1, "key", "list", "--account", email))
	require.Equal(t, "-", cell(5, "key", "list", "--account", email), "never used")

	db, err := sql.Open("sqlite", strings.TrimPrefix(s.database, "sqlite:"))
	require.NoError(t, err)
	defer db.Close()
	for _, change := range []string{
		`UPDATE keys SET name = char(27) || '[2J' || char(9) || 'x' || char(8238)`,
		`UPDATE plans SET name = char(27) || ']0;x' || char(7) WHERE name = 'pro'`,
	} {
		_, err = db.ExecContext(t.Context(), change)
		require.NoError(t, err)
	}
	for _, form := range []string{"table", "csv"} {
		for _, list := range []string{on("key", "list", "--account", email, "--to", form), on("plan", "list", "--to", form)} {
			require.Contains(t, list, "\uFFFD")
			require.NotContains(t, list, "\x1b")
			require.NotContains(t, list, "\u202e")
		}
	}
}
