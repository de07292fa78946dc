package command

import (
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

func (s *shell) objects(line string) (list []map[string]any) {
	s.Helper()
	for line := range strings.Lines(s.must(line + " --to ndjson")) {
		var object map[string]any
		require.NoError(s, json.Unmarshal([]byte(line), &object), line)
		list = append(list, object)
	}
	return list
}

// Values keep their types in JSON. Only text is escaped, for spreadsheets and for terminals: a number is not.
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
	row := []any{"=f(1)", "\x1b]0;x\x07\u202e", int64(-1)} // what callers chose, such as the name of a key
	for form, want := range map[string]string{"csv": "a,b,c\n'=f(1),\uFFFD]0;x\uFFFD\uFFFD,-1\n", "table": "A      B        C\n=f(1)  \uFFFD]0;x\uFFFD\uFFFD  -1\n"} {
		var out strings.Builder
		require.NoError(t, (&tableFlag{To: form}).print(&out, []string{"a", "b", "c"}, [][]any{row}))
		require.Equal(t, want, out.String())
	}
}
