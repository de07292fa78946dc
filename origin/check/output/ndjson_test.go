package output

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

func TestNDJSONCopiesTheResult(t *testing.T) {
	o := pipeline.Outcome{JSON: []byte(`{"email":"<a>"}`)}
	require.Equal(t, `{"email":"<a>"}`+"\n", encodeAll(t, &NDJSON{}, addresses("<a>"), []pipeline.Outcome{o}))
}

func TestNDJSONErrors(t *testing.T) {
	records := append(addresses("<\xff>@slow.example"), pipeline.Record{File: "a&b", Line: 7, Email: "garbled", Err: errNoObject})
	require.Equal(t, `{"email":"<`+"\uFFFD"+`>@slow.example","error":{"code":"DNS_TIMEOUT","message":"DNS lookup timed out for domain slow.example"}}
{"error":{"code":"BAD_LINE","message":"not a JSON object"},"file":"a&b","line":7}
`, encodeAll(t, &NDJSON{}, records, []pipeline.Outcome{timeout, {}}))
}

func TestNDJSONKeep(t *testing.T) {
	o := pipeline.Outcome{JSON: []byte(`{"email":"a"}`)}
	for name, c := range map[string]struct {
		layout Layout
		record pipeline.Record
		want   string
	}{
		"text":     {nil, pipeline.Record{Line: 3, Email: "a"}, `{"email":"a","line":3}`},
		"argument": {nil, pipeline.Record{Email: "a"}, `{"email":"a"}`},
		"object":   {layout{}, pipeline.Record{Line: 3, Object: []byte(`{"id": 7, "email":"a"}`)}, `{"email":"a","line":3,"input":{"id":7,"email":"a"}}`},
		"lines":    {layout{}, pipeline.Record{Line: 3, Object: []byte("{\"id\":\r\n7}")}, `{"email":"a","line":3,"input":{"id":7}}`},
		"CSV": {layout{',', []string{"id", "id", ""}, 3}, pipeline.Record{Line: 3, Cells: []string{"1", "2", "<3>", "4"}},
			`{"email":"a","line":3,"input":{"id":"1","id_2":"2","column_3":"<3>","column_4":"4"}}`},
		"no header":   {layout{',', nil, 1}, pipeline.Record{File: "f", Line: 3, Cells: []string{"1"}}, `{"email":"a","file":"f","line":3,"input":{"column_1":"1"}}`},
		"bad":         {layout{}, pipeline.Record{Line: 3, Err: errNoObject, Object: []byte("{")}, `{"error":{"code":"BAD_LINE","message":"not a JSON object"},"line":3}`},
		"bad with id": {layout{}, pipeline.Record{Line: 3, Err: errNoObject, Object: []byte(`{"id":7}`)}, `{"error":{"code":"BAD_LINE","message":"not a JSON object"},"line":3,"input":{"id":7}}`},
	} {
		require.Equal(t, c.want+"\n", encodeAll(t, &NDJSON{Keep: true, Layout: c.layout}, []pipeline.Record{c.record}, []pipeline.Outcome{o}), name)
	}
}

// Every record is one line of valid JSON with distinct keys.
func FuzzNDJSON(f *testing.F) {
	for _, text := range []string{"a@example.org", "\xff", "\"", "\n", `{"a":1}`, "{\n}", "column_1", "", "\u2028"} {
		f.Add(text, text, text, text)
	}
	f.Fuzz(func(t *testing.T, email, object, key, cell string) {
		format := &NDJSON{Keep: true, Layout: layout{',', []string{key, key, cell}, 4}}
		records := []pipeline.Record{{Email: email, Line: 1, Object: []byte(object)}, {Line: 2, Cells: []string{cell, key, "", "", email}},
			{Line: 3, Email: email, Object: []byte(object), Err: errNoObject, File: cell}}
		o := pipeline.Outcome{JSON: []byte(`{"email":"a"}`)}
		got := encodeAll(t, format, records, []pipeline.Outcome{{Code: "E" + key, Message: object}, o, {}})
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		require.Len(t, lines, len(records))
		for _, line := range lines {
			require.True(t, json.Valid([]byte(line)), "%q", line)
		}
		var row struct{ Input map[string]string }
		require.NoError(t, json.Unmarshal([]byte(lines[1]), &row))
		require.Len(t, row.Input, 5)
	})
}
