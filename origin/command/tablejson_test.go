package command

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

// Every table is one of three formats with the same rows. Only the table has a sum.
func TestTables(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.must("account create --account =cmd@example.org --points 7")
	s.must("key create --account you@example.org --name n --budget 5")
	s.must("key create --account you@example.org --name m")

	list := s.must("account list")
	require.Contains(t, list, "2 accounts")
	require.Equal(t, 4, strings.Count(list, "\n"))
	require.Len(t, s.rows("account list"), 2)
	require.Equal(t, "'=cmd@example.org", s.rows("account list")[1][1])
	objects := s.objects("account list")
	require.Len(t, objects, 2)
	require.Equal(t, map[string]any{"id": 2.0, "email": "=cmd@example.org", "plan": "free", "rate": 1.0, "points": 7.0, "overage": false, "used": 0.0,
		"created": objects[1]["created"], "suspended": nil}, objects[1])
	require.Equal(t, "unlimited", objects[0]["points"])
	require.Contains(t, s.must("account list --search nowhere"), "0 accounts")
	require.Empty(t, s.must("account list --search nowhere --to ndjson"))

	keys := s.objects("key list --account you@example.org")
	require.Equal(t, []any{nil, 5.0}, []any{keys[0]["budget"], keys[1]["budget"]})
	require.Equal(t, []any{nil, 0.0}, []any{keys[0]["used"], keys[1]["used"]})
	require.Nil(t, keys[0]["last_used"])
	require.Len(t, s.objects("plan list"), 3)
	require.Len(t, s.objects("account log --account you@example.org"), 3)
	require.Contains(t, s.must("usage"), "total")
	require.Empty(t, s.must("usage --to ndjson"))
}

// objects returns the objects of a list.
func (s *shell) objects(line string) (list []map[string]any) {
	s.Helper()
	lines := bufio.NewScanner(strings.NewReader(s.must(line + " --to ndjson")))
	for lines.Scan() {
		var object map[string]any
		require.NoError(s, json.Unmarshal(lines.Bytes(), &object), lines.Text())
		list = append(list, object)
	}
	return list
}

// Text that a user chose is the same text in JSON, and cannot control a terminal.
func FuzzJSONText(f *testing.F) {
	f.Add("jane@example.org")
	f.Add("\x1b[2J\u009b1m\u202e\u2028\"\\\U000e0001")
	f.Fuzz(func(t *testing.T, given string) {
		data := jsonCell(given)
		var text string
		require.NoError(t, json.Unmarshal(data, &text))
		require.Equal(t, string([]rune(given)), text, "each invalid byte is U+FFFD")
		require.Equal(t, output.Printable(string(data)), string(data))
	})
}

func TestJSONCells(t *testing.T) {
	t.Parallel()
	limit := book.Limit(book.Unlimited)
	for want, value := range map[string]any{`null`: dash, `"-"`: "-", `7`: int64(7), `true`: true, `"unlimited"`: ownLimit{&limit}, `"2026-11-22"`: book.Day(20779)} {
		require.Equal(t, want, string(jsonCell(value)))
	}
	require.Equal(t, "null", string(jsonCell(ownLimit{})))
}
