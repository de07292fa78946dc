package check_test

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/origin/check/output"
)

// The memory of a run does not grow with its input: ten times as many records need
// no more.
func TestMemoryDoesNotGrow(t *testing.T) {
	view := newEngine(t).View()
	peak := func(rows int) (most uint64) {
		in := input.New(&repeated{line: []byte("jane.doe@mail.example\n"), left: rows}, input.Options{})
		r := check.Run{Input: in, Checker: &check.Local{View: view}, Format: &output.NDJSON{}, Output: io.Discard, Workers: 2}
		var stats runtime.MemStats
		records := int64(0)
		r.Written = func(c check.Counts) {
			if c.Records-records > 10_000 {
				records = c.Records
				runtime.GC()
				runtime.ReadMemStats(&stats)
				most = max(most, stats.HeapAlloc)
			}
		}
		_, err := r.Do(context.Background())
		require.NoError(t, err)
		return most
	}
	rows := 400_000
	if testing.Short() {
		rows = 120_000 // the race detector makes it slow
	}
	few, many := peak(rows/10), peak(rows)
	require.Less(t, many, few+4<<20)
}

// repeated reads the same line many times.
type repeated struct {
	line []byte
	left int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := min(len(p)/len(r.line), r.left)
	if n == 0 {
		return 0, io.EOF
	}
	r.left -= n
	return copy(p, bytes.Repeat(r.line, n)), nil
}
