package command

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// Every table is one of three formats with the same rows. Only the table has a sum.
func TestTables(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.must("account create --account a@example.org --points 7")
	s.must("key create --account you@example.org --name n --budget 5")
	s.must("key create --account you@example.org --name m")

	list := s.must("account list")
	require.Contains(t, list, "2 accounts")
	require.Equal(t, 4, strings.Count(list, "\n"))
	require.Len(t, s.rows("account list"), 2)
	objects := s.objects("account list")
	require.Len(t, objects, 2)
	require.Equal(t, map[string]any{"id": 2.0, "email": "a@example.org", "plan": "free", "rate": 1.0, "points": 7.0,
		"overage": false, "used": 0.0, "created": objects[1]["created"], "suspended": nil}, objects[1])
	require.Equal(t, "unlimited", objects[0]["points"])
	require.Contains(t, s.must("account list --search nowhere"), "0 accounts")
	require.Empty(t, s.must("account list --search nowhere --to ndjson"))

	keys := s.objects("key list --account you@example.org")
	require.Equal(t, []any{nil, 5.0, nil, 0.0, nil},
		[]any{keys[0]["budget"], keys[1]["budget"], keys[0]["used"], keys[1]["used"], keys[0]["last_used"]})
	require.Len(t, s.objects("plan list"), 3)
	require.NotNil(t, s.objects("plan list")[0]["stored_bytes"])
	require.Regexp(t, "STORED BYTES\n", s.must("plan list"))
	require.Len(t, s.objects("account log --account you@example.org"), 3)
	require.Contains(t, s.must("usage"), "total")
	require.Empty(t, s.must("usage --to ndjson"))
}

// Emails and names that callers chose are escaped in every list, for spreadsheets and for
// terminals.
func TestListsEscapeNames(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	const email, name = `=hyperlink("http://x.example","a")@example.org`, `=hyperlink("http://x.example";"b")`
	s.must("account create", "--email", email)
	s.must("key create --account you@example.org", "--name", name)
	require.Equal(t, "'"+email, s.rows("account list")[1][1])
	require.Equal(t, "'"+name, s.rows("key list --account you@example.org")[0][1])
	s.refused("key change --account you@example.org 1", "control", "--name", "a\u202eb")

	db, err := sql.Open("sqlite", strings.TrimPrefix(s.database, "sqlite:"))
	require.NoError(t, err)
	defer db.Close()
	for _, change := range []string{
		`UPDATE keys SET name = char(27) || '[2J' || char(9) || 'x' || char(8238)`,
		`UPDATE audit SET subject = char(27) || '[2J' || char(8238)`,
		`UPDATE plans SET name = char(27) || ']0;x' || char(7) WHERE name = 'pro'`,
	} {
		must(db.ExecContext(t.Context(), change))(t)
	}
	for _, list := range []string{"key list --account you@example.org", "account log --account you@example.org",
		"plan list"} {
		for _, form := range []string{"table", "csv"} {
			text := s.must(list + " --to " + form)
			require.Contains(t, text, "\uFFFD")
			require.NotContains(t, text, "\x1b")
			require.NotContains(t, text, "\u202e")
		}
	}
}

func (s *shell) objects(line string) (list []map[string]any) {
	s.Helper()
	for line := range strings.Lines(s.must(line + " --to ndjson")) {
		var object map[string]any
		require.NoError(s, json.Unmarshal([]byte(line), &object), line)
		list = append(list, object)
	}
	return list
}

// Values keep their types in JSON. Only text is escaped: in CSV, a number is not.
func TestCells(t *testing.T) {
	t.Parallel()
	limit := book.Limit(book.Unlimited)
	for _, c := range []struct {
		want  string
		value any
	}{
		{`null`, nil}, {`"-"`, "-"}, {`7`, int64(7)}, {`true`, true}, {`"<&>"`, "<&>"}, {`"unlimited"`, orNil(&limit)},
		{"\"\uFFFD[2J\uFFFD\"", "\x1b[2J\u202e"}, {`null`, orNil((*book.Limit)(nil))}, {`null`, orNil("")},
	} {
		var out strings.Builder
		require.NoError(t, (&tableFlag{To: "ndjson"}).print(&out, []string{"a b"}, [][]any{{c.value}}))
		require.Equal(t, `{"a_b":`+c.want+"}\n", out.String())
	}
	var out strings.Builder
	require.NoError(t, (&tableFlag{To: "csv"}).print(&out, []string{"a", "b"}, [][]any{{"-1", int64(-1)}}))
	require.Equal(t, "a,b\n'-1,-1\n", out.String())
}
