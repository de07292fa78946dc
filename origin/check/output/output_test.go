package output

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/result"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A layout is that of an input.
type layout struct {
	comma  byte
	header []string
	width  int
}

func (l layout) Comma() byte      { return l.comma }
func (l layout) Header() []string { return l.header }
func (l layout) Width() int       { return l.width }

// newChecker returns the module.
func newChecker(t testing.TB, flags host.Flags) *check.Local {
	engine, err := host.New(context.Background(), moduletest.Bytes(t), host.Options{CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	t.Cleanup(func() { engine.Close(context.Background()) })
	return &check.Local{View: engine.View(), Flags: flags}
}

// write checks records and returns the whole output.
func write(t testing.TB, f check.Format, checker check.Checker, records ...check.Record) string {
	outcomes := make([]check.Outcome, len(records))
	require.NoError(t, checker.Check(context.Background(), records, outcomes))
	return encodeAll(t, f, records, outcomes)
}

func encodeAll(t testing.TB, f check.Format, records []check.Record, outcomes []check.Outcome) string {
	text, err := f.Head(nil)
	require.NoError(t, err)
	for n := range records {
		text, err = f.Append(text, &records[n], &outcomes[n])
		require.NoError(t, err)
	}
	return string(text)
}

// addresses are records of text.
func addresses(emails ...string) (records []check.Record) {
	for n, email := range emails {
		records = append(records, check.Record{Line: int64(n + 1), Email: email})
	}
	return records
}

// resultOf returns the outcome of a result that the module does not give.
func resultOf(t testing.TB, r result.Result, mx check.MX) check.Outcome {
	text, err := json.Marshal(r)
	require.NoError(t, err)
	return check.Outcome{JSON: text, Flags: r.Flags(), MX: mx}
}

var (
	errNoObject = errors.New("not a JSON object")
	timeout     = check.Outcome{Code: "DNS_TIMEOUT", Message: "DNS lookup timed out for domain slow.example"}
)
