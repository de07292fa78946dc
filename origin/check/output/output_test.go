package output

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/result"
)

// csvOf is the layout of an input of CSV.
func csvOf(comma byte, width int, header ...string) pipeline.Layout {
	return pipeline.Layout{Comma: comma, Width: width, Header: header}
}

// newChecker returns the module.
func newChecker(t testing.TB, flags host.Flags) *pipeline.Local {
	return &pipeline.Local{View: newEngine(t).View(), Flags: flags}
}

func newEngine(t testing.TB) *host.Engine {
	engine, err := host.New(context.Background(), moduletest.Bytes(t), host.Options{CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	t.Cleanup(func() { engine.Close(context.Background()) })
	return engine
}

// write checks records and returns the whole output.
func write(t testing.TB, f pipeline.Format, checker pipeline.Checker, records ...pipeline.Record) string {
	outcomes := make([]pipeline.Outcome, len(records))
	require.NoError(t, checker.Check(context.Background(), records, outcomes))
	return encodeAll(t, f, records, outcomes)
}

func encodeAll(t testing.TB, f pipeline.Format, records []pipeline.Record, outcomes []pipeline.Outcome) string {
	text, err := f.Head(nil)
	require.NoError(t, err)
	for n := range records {
		text, err = f.Append(text, &records[n], &outcomes[n])
		require.NoError(t, err)
	}
	return string(text)
}

// addresses are records of text.
func addresses(emails ...string) (records []pipeline.Record) {
	for n, email := range emails {
		records = append(records, pipeline.Record{Line: int64(n + 1), Email: email})
	}
	return records
}

// resultOf returns the outcome of a result that the module does not give.
func resultOf(t testing.TB, r result.Result) pipeline.Outcome {
	text, err := json.Marshal(r)
	require.NoError(t, err)
	return pipeline.Outcome{JSON: text, Flags: r.Flags()}
}

var (
	errNoObject = errors.New("not a JSON object")
	timeout     = pipeline.Outcome{Code: "DNS_TIMEOUT", Message: "DNS lookup timed out for domain slow.example"}
)

func TestSummary(t *testing.T) {
	s := Summary{Elapsed: 12345 * time.Millisecond, LookedUp: true, Counts: pipeline.Counts{Records: 1_234_568, Bad: 1, Valid: 1_234_000, Invalid: 500,
		Typo: 1, Disposable: 123_456, Role: 0, Gibberish: 42_000, NoMX: 2000, Errors: 67}}
	var text strings.Builder
	s.WriteText(&text)
	require.Equal(t, strings.TrimPrefix(`
1,234,567 addresses checked in 12s, 100,005 per second
  valid           1,234,000  > 99.9 %
    typo                  1   < 0.1 %
    disposable      123,456    10.0 %
    role                  0     0.0 %
    gibberish        42,000     3.4 %
    no MX record      2,000     0.2 %
  invalid               500   < 0.1 %
  errors                 67   < 0.1 %
1 record could not be read.
`, "\n"), text.String())
}

func TestSummaryOffline(t *testing.T) {
	s := Summary{Elapsed: 2 * time.Millisecond, Counts: pipeline.Counts{Records: 1, Valid: 1}}
	var text, object strings.Builder
	s.WriteText(&text)
	require.True(t, strings.HasPrefix(text.String(), "1 address checked in 2ms, "), text.String())
	require.True(t, strings.HasSuffix(text.String(), "\nMX records were not looked up.\n"), text.String())
	require.NotContains(t, text.String(), "no MX")
	s.WriteJSON(&object)
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(object.String()), &fields))
	require.Nil(t, fields["no_mx"], "not a fact")
	require.Equal(t, 1.0, fields["valid"])
	require.Equal(t, 500.0, fields["addresses_per_second"])
}

// With a policy the summary counts verdicts, and says which reasons were skipped.
func TestSummaryOfVerdicts(t *testing.T) {
	s := Summary{Policy: true, Counts: pipeline.Counts{Records: 4, Valid: 3, Invalid: 1, Allow: 1, Review: 1, Block: 2}}
	var text, object strings.Builder
	s.WriteText(&text)
	require.Contains(t, text.String(), "\n  allow           1  25.0 %\n  review          1  25.0 %\n  block           2  50.0 %\n")
	require.Contains(t, text.String(), "MX records were not looked up, so the policy's reasons that need DNS were skipped: no_mx, no_mail, and disposable by the exchange.\n")
	s.WriteJSON(&object)
	for _, member := range []string{`"allow":1,`, `"review":1,`, `"block":2,`, `"skipped_reasons":["no_mx","no_mail"],`} {
		require.Contains(t, object.String(), member)
	}

	text.Reset()
	object.Reset()
	s.LookedUp = true
	s.WriteText(&text)
	require.NotContains(t, text.String(), "skipped")
	s.WriteJSON(&object)
	require.Contains(t, object.String(), `"skipped_reasons":[],`)
	object.Reset()
	s.Policy = false
	s.WriteJSON(&object)
	require.NotContains(t, object.String(), "allow")
}

// withPolicy returns the module with a policy.
func withPolicy(t testing.TB, document string) *pipeline.Local {
	engine := newEngine(t)
	policy, err := engine.NewPolicy(t.Context(), document)
	require.NoError(t, err)
	return &pipeline.Local{View: engine.View(), Policy: policy}
}

// A summary without addresses has no table of zeros.
func TestSummaryOfNothing(t *testing.T) {
	for want, counts := range map[string]pipeline.Counts{
		"Nothing was checked: the input is empty, or has only a header.\n":                   {},
		"Nothing was checked.\n2 records without an address.\n1 record could not be read.\n": {Records: 3, NoAddress: 2, Bad: 1},
	} {
		var text strings.Builder
		(&Summary{Counts: counts}).WriteText(&text)
		require.Equal(t, want, text.String())
	}
}

func TestSummaryOfEncodings(t *testing.T) {
	s := Summary{LookedUp: true, Counts: pipeline.Counts{Records: 2, Valid: 2}, Readings: []pipeline.Reading{{Name: "a\x1b.csv", Encoding: "utf-8", Why: "all of it is ASCII"}, {Name: "b.csv", Encoding: "windows-1252", Why: "line 3 is not UTF-8", Guessed: true}}}
	var text, object strings.Builder
	s.WriteText(&text)
	require.Contains(t, text.String(), "a\uFFFD.csv was read as utf-8: all of it is ASCII.\nb.csv was read as windows-1252: line 3 is not UTF-8. If letters look wrong, give another one with --encoding.\n")
	s.WriteJSON(&object)
	require.Contains(t, object.String(), `{"name":"b.csv","encoding":"windows-1252","why":"line 3 is not UTF-8","guessed":true}`)
}

func TestBadLines(t *testing.T) {
	var text strings.Builder
	bad := BadLines{To: &text, Name: "li\x1bst.csv"}
	bad.Report(&pipeline.Record{Err: errNoObject})
	for n := range 1_000_001 {
		bad.Report(&pipeline.Record{File: "", Line: int64(n + 2), Err: errNoObject})
	}
	bad.Close()
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	require.Len(t, lines, maxBadLines+1, "a million bad lines do not flood")
	require.Equal(t, "li\uFFFDst.csv: not a JSON object", lines[0])
	require.Equal(t, "li\uFFFDst.csv line 2: not a JSON object", lines[1])
	require.Equal(t, "and 999,982 more records that could not be read", lines[maxBadLines])

	text.Reset()
	bad = BadLines{To: &text}
	bad.Report(&pipeline.Record{File: "a.json", Line: 3, Err: errNoObject})
	bad.Close()
	require.Equal(t, "a.json line 3: not a JSON object\n", text.String())
}
