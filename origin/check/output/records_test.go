package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

func TestCSVOfText(t *testing.T) {
	got := write(t, &CSV{}, newChecker(t, 0), addresses("support+x@gmial.com", `"a,b"@example.org`, "a..b@example.org", "<a@example.org>")...)
	require.Equal(t, strings.TrimPrefix(`
email,valid,normalized,local_part,alias,ascii,role,gibberish,gibberish_score,domain,mx,disposable,public,relay,typo,typo_suggestion,reason,reason_offset,error,message
support+x@gmial.com,true,support+x@gmial.com,support+x,true,true,Support,false,0,gmial.com,,false,false,false,true,gmail.com,,,,
"""a,b""@example.org",true,"""a,b""@example.org","""a,b""",false,true,,false,0,example.org,,false,false,false,false,,,,,
a..b@example.org,false,,,false,true,,false,0,,false,false,false,false,false,,local_part_two_dots,2,,the local part has two dots in a row; remove one
<a@example.org>,false,,,false,true,,false,0,,false,false,false,false,false,,angle_bracket,0,,"the address has ""<""; give only the address between the angle brackets, without a name; did you mean a@example.org?"
`, "\n"), got)
}

func TestCSVKeepsTheColumnsOfTheInput(t *testing.T) {
	records := []pipeline.Record{
		{Line: 2, Email: "+a@example.org", Cells: []string{"=1+1", "+a@example.org", "two\r\nlines"}},
		{Line: 4, Email: "b@slow.example", Cells: []string{" x", "b@slow.example", `say "hi"`}},
		{Line: 5, Err: errNoObject, Cells: []string{"short"}},
		{Line: 6, Err: errNoObject, Cells: []string{"1", "2", "3", "4", "5"}},
		{Line: 7, Err: errNoObject},
		{Line: 8, Err: pipeline.ErrNoAddress, Cells: []string{"n", "", ""}},
	}
	outcomes := make([]pipeline.Outcome, len(records))
	require.NoError(t, newChecker(t, 0).Check(t.Context(), records[:1], outcomes))
	outcomes[1] = timeout
	got := encodeAll(t, &CSV{Layout: csvOf(';', 3, "Größe", "E-Mail")}, records, outcomes)
	require.Equal(t, strings.TrimPrefix(`
Größe;E-Mail;column_3;valid;normalized;local_part;alias;ascii;role;gibberish;gibberish_score;domain;mx;disposable;public;relay;typo;typo_suggestion;reason;reason_offset;error;message
=1+1;+a@example.org;"two`+"\r"+`
lines";true;+a@example.org;+a;false;true;;false;0.02;example.org;;false;false;false;false;;;;;
" x";b@slow.example;"say ""hi""";;;;;;;;;;;;;;;;;;DNS_TIMEOUT;DNS lookup timed out for domain slow.example
short;;;;;;;;;;;;;;;;;;;;BAD_LINE;not a JSON object
1;2;3;;;;;;;;;;;;;;;;;;BAD_LINE;not a JSON object;4;5
;;;;;;;;;;;;;;;;;;;;BAD_LINE;not a JSON object
n;;;;;;;;;;;;;;;;;;;;NO_ADDRESS;the row has no address
`, "\n"), got)
}

// The file that check wrote can be checked again.
func TestCSVNamesDoNotCollide(t *testing.T) {
	head := func(names ...string) []string {
		text, err := (&CSV{Layout: csvOf(',', len(names), names...)}).Head(nil)
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(text)), ",")
	}
	require.Equal(t, []string{"email", "valid"}, head("email")[:2])
	require.Equal(t, []string{"Valid ", "addrspec_valid", "addrspec_normalized"}, head("Valid ")[:3])
	once := head("email")
	twice := head(once...)
	thrice := head(twice...)
	require.Equal(t, "addrspec2_valid", thrice[len(twice)])
	slices.Sort(thrice)
	require.Len(t, slices.Compact(thrice), len(once)+2*(len(once)-1), "all names differ")
}

// The columns of a verdict come last. They are empty where there is none.
func TestCSVOfVerdicts(t *testing.T) {
	checker := withPolicy(t, `{"block":{"reasons":["disposable"]}}`)
	got := write(t, &CSV{Policy: true}, checker, append(addresses("jane@example.org", "jane@mailinator.com", "jane@"), pipeline.Record{Line: 4, Err: errNoObject})...)
	lines := strings.Split(got, "\n")
	for n, want := range []string{",error,message,verdict,verdict_reason,verdict_rule", ",allow,,", ",block,disposable,block.reasons[0]",
		",block,invalid,", ",BAD_LINE,not a JSON object,,,"} {
		require.True(t, strings.HasSuffix(lines[n], want), lines[n])
	}
	plain := write(t, &CSV{}, newChecker(t, 0), addresses("jane@mailinator.com")...)
	require.Equal(t, strings.Split(plain, "\n")[1]+",block,disposable,block.reasons[0]", lines[2])
}

func TestCSVForSpreadsheets(t *testing.T) {
	records := []pipeline.Record{{Email: "+a@example.org", Cells: []string{"=1+1", "+a@example.org", "two\nlines"}}}
	got := write(t, &CSV{Layout: csvOf(',', 3, "@x", "email", "note"), Safe: true, BOM: true}, newChecker(t, 0), records...)
	require.True(t, strings.HasPrefix(got, "\uFEFF'@x,email,note,valid"), "Excel reads UTF-8 with a byte order mark only")
	require.Contains(t, got, "\n'=1+1,'+a@example.org,\"two\nlines\",true,'+a@example.org,'+a,false,")
}

// What precedes the header of the input precedes that of the output.
func TestCSVPreamble(t *testing.T) {
	l := csvOf(';', 1, "email")
	l.Preamble = [][]string{{"Export of May"}, {""}, {"=a;b", "", "c"}}
	head := func(f *CSV) string {
		got, err := f.Head(nil)
		require.NoError(t, err)
		before, _, _ := strings.Cut(string(got), ";valid;")
		return before
	}
	require.Equal(t, "Export of May\n\n\"=a;b\";;c\nemail", head(&CSV{Layout: l}))
	require.Equal(t, "Export of May\n\n\"'=a;b\";;c\nemail", head(&CSV{Layout: l, Safe: true}))
	require.Equal(t, "=a;b", l.Preamble[2][0], "the input keeps its rows")
	require.True(t, strings.HasPrefix(head(&CSV{Layout: l, BOM: true}), "\uFEFFExport"))
}

func TestCSVMX(t *testing.T) {
	r := result.Result{Email: "a@b.example", Valid: true, MX: true}
	cell := func(o pipeline.Outcome) string {
		got := encodeAll(t, &CSV{}, addresses(r.Email), []pipeline.Outcome{o})
		_, row, _ := strings.Cut(got, "\n")
		return strings.Split(row, ",")[10]
	}
	require.Equal(t, "true", cell(resultOf(t, r)))
	r.MX = false
	require.Equal(t, "false", cell(resultOf(t, r)))
	unknown := resultOf(t, r)
	unknown.JSON = bytes.Replace(unknown.JSON, []byte(`"mx":false`), []byte(`"mx":null`), 1)
	require.Empty(t, cell(unknown), "nothing was looked up")
	r.Valid = false
	require.Equal(t, "false", cell(resultOf(t, r)))
}

func TestCSVDetails(t *testing.T) {
	got := write(t, &CSV{Details: true}, newChecker(t, host.Details),
		addresses("j.doe+x@gmail.com", "a..b@example.org", "sales@mailinator.com")...)
	rows, err := csv.NewReader(strings.NewReader(got)).ReadAll()
	require.NoError(t, err)
	cell := func(row int, name string) string { return rows[row][slices.Index(rows[0], name)] }
	require.Equal(t, "jdoe@gmail.com", cell(1, "canonical"))
	require.Equal(t, "RFC 5322 section 3.2.3", cell(2, "reason_section"))
	require.Equal(t, "sales", cell(3, "role_word"))
	require.Equal(t, "mailinator.com", cell(3, "provider_entry"))
	require.Contains(t, cell(3, "provider_sources"), "pypi:disposable-email-domains")
	for _, name := range []string{"form", "exchange_class", "exchange_provider", "exchange_entry", "exchange_host", "address_record"} {
		require.Empty(t, cell(3, name), "nothing was looked up, and nothing is unusual")
	}
}

// What a lookup finds is in the last columns.
func TestCSVExchange(t *testing.T) {
	record := false
	r := result.Result{Email: "x", Valid: true, Details: &result.Details{Form: []string{"quoted", "single_label"},
		Exchange: &result.Exchange{Class: "suite", Provider: "Google Workspace", Entry: "google.com", Host: "a.google.com", AddressRecord: &record}}}
	got := encodeAll(t, &CSV{Details: true}, addresses("x"), []pipeline.Outcome{resultOf(t, r)})
	require.Contains(t, got, ",quoted single_label,suite,Google Workspace,google.com,a.google.com,false\n")
	r.Details.Exchange = &result.Exchange{Class: "unknown"}
	got = encodeAll(t, &CSV{Details: true}, addresses("x"), []pipeline.Outcome{resultOf(t, r)})
	require.Contains(t, got, ",quoted single_label,unknown,,,,\n", "the lookup of the address record failed")
}

func TestCSVRefusesWhatIsNoResult(t *testing.T) {
	f := &CSV{}
	_, err := f.Head(nil)
	require.NoError(t, err)
	dst, err := f.Append([]byte("before"), &pipeline.Record{}, &pipeline.Outcome{JSON: []byte("{}")})
	require.ErrorContains(t, err, `"email"`)
	require.Equal(t, "before", string(dst))
}

// encoding/csv reads the same cells, and with Safe no cell begins a formula.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"=1", "a\"b", "a,b", "\"", "\r\n", "\r", "\n=2", " x", "\xff", "\\.", "", ";\t|", "\uFEFF"} {
		f.Add(text, text, byte(0), text, false)
		f.Add("x", text, byte(3), text, true)
	}
	f.Fuzz(func(t *testing.T, one, two string, comma byte, message string, safe bool) {
		separator := ",;\t|"[comma%4]
		records := []pipeline.Record{{Cells: []string{one, two}}, {Cells: []string{two, one, message}, Err: errNoObject}}
		o := resultOf(t, result.Result{Email: two, Valid: true, Normalized: one, LocalPart: message})
		o.Refusal = result.Refusal{Code: "x", Sentence: message}
		got := encodeAll(t, &CSV{Layout: csvOf(separator, 2), Safe: safe}, records, []pipeline.Outcome{o, {}})
		rows := readCSV(t, got, separator)
		require.Len(t, rows, 3)
		require.Len(t, rows[1], 2+len(resultColumns))
		require.Len(t, rows[2], 2+len(resultColumns)+1)
		if safe {
			requireNoFormula(t, rows)
			return
		}
		require.Equal(t, asRead(one, two, message), []string{rows[1][0], rows[1][1], rows[1][len(rows[1])-1]})
		require.Equal(t, asRead(two, one, message), []string{rows[2][0], rows[2][1], rows[2][len(rows[2])-1]})
	})
}

func readCSV(t *testing.T, text string, separator byte) [][]string {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma, reader.FieldsPerRecord = rune(separator), -1
	rows, err := reader.ReadAll()
	require.NoError(t, err)
	return rows
}

// asRead returns cells as encoding/csv reads them: CRLF as LF.
func asRead(cells ...string) []string {
	for n, cell := range cells {
		cells[n] = strings.ReplaceAll(cell, "\r\n", "\n")
	}
	return cells
}

func requireNoFormula(t *testing.T, rows [][]string) {
	for _, row := range rows {
		for _, cell := range row {
			require.False(t, cell != "" && strings.Contains("=+-@\t\r\n\x00", cell[:1]), "%q", cell)
		}
	}
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
		layout pipeline.Layout
		record pipeline.Record
		want   string
	}{
		"text":     {csvOf(0, 0), pipeline.Record{Line: 3, Email: "a"}, `{"email":"a","line":3}`},
		"argument": {csvOf(0, 0), pipeline.Record{Email: "a"}, `{"email":"a"}`},
		"object":   {csvOf(0, 0), pipeline.Record{Line: 3, Object: []byte(`{"id": 7, "email":"a"}`)}, `{"email":"a","line":3,"input":{"id":7,"email":"a"}}`},
		"lines":    {csvOf(0, 0), pipeline.Record{Line: 3, Object: []byte("{\"id\":\r\n7}")}, `{"email":"a","line":3,"input":{"id":7}}`},
		"CSV": {csvOf(',', 3, "id", "id", ""), pipeline.Record{Line: 3, Cells: []string{"1", "2", "<3>", "4"}},
			`{"email":"a","line":3,"input":{"id":"1","id_2":"2","column_3":"<3>","column_4":"4"}}`},
		"no header":   {csvOf(',', 1), pipeline.Record{File: "f", Line: 3, Cells: []string{"1"}}, `{"email":"a","file":"f","line":3,"input":{"column_1":"1"}}`},
		"bad":         {csvOf(0, 0), pipeline.Record{Line: 3, Err: errNoObject, Object: []byte("{")}, `{"error":{"code":"BAD_LINE","message":"not a JSON object"},"line":3}`},
		"bad with id": {csvOf(0, 0), pipeline.Record{Line: 3, Err: errNoObject, Object: []byte(`{"id":7}`)}, `{"error":{"code":"BAD_LINE","message":"not a JSON object"},"line":3,"input":{"id":7}}`},
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
		format := &NDJSON{Keep: true, Layout: csvOf(',', 4, key, key, cell)}
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

func TestFormula(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "",
		"jane@example.org":    "jane@example.org",
		"o'neil-smith+1@x.cz": "o'neil-smith+1@x.cz",
		"=1+1":                "'=1+1",
		"+1":                  "'+1",
		"-1":                  "'-1",
		"@SUM(A1)":            "'@SUM(A1)",
		"\t=1":                "'\t=1",
		"\r=1":                "'\r=1",
		"a\n=1":               "a\n'=1",
		"＝1":                  "'＝1",
		"x;=1":                "x;'=1",
		"x;1,a, b;?":          "x;1,a, b;?",
		";\x00;+":             ";'\x00;'+",
		";＝;＠":                ";'＝;'＠",
		"x,-1":                "x,'-1",
		"laptop 2":            "laptop 2",
	} {
		require.Equal(t, want, Formula(text), "%q", text)
	}
}

func FuzzPrintable(f *testing.F) {
	for _, text := range []string{"=1", "\x1b[2J", "a\tb", "\u202e", "\xff", "\u0085", "\u2028", "\x7f", "jäne"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range Printable(text) {
			require.True(t, unicode.IsGraphic(r) || r == unicode.ReplacementChar, "%q", r)
		}
		if utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0 {
			require.Equal(t, text, Printable(text))
		}
	})
}

// No cell begins a formula, also after a separator in it, and nothing else changes.
func FuzzFormula(f *testing.F) {
	for _, text := range []string{"=1", "x;＝1", "a,-", "\x00", "é=", "x\n@y", "plain", "=+-@", ",,\t\t"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		safe := Formula(text)
		require.Equal(t, strings.ReplaceAll(text, "'", ""), strings.ReplaceAll(safe, "'", ""))
		for _, cell := range strings.FieldsFunc(safe, func(r rune) bool { return r == ';' || r == ',' }) {
			first, _ := utf8.DecodeRuneInString(cell)
			require.NotContains(t, "=+-@\t\r\n\x00＝＋－＠", string(first), "%q", safe)
		}
	})
}
