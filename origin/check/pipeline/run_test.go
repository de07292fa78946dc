package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// emails is an input of the addresses 0@mail.example, 1@mail.example and so on. Every bad-th record cannot be read.
type emails struct {
	next, count, bad int
	block            chan struct{} // if not nil, Read waits at the end
}

func (e *emails) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	for len(dst) < cap(dst) && e.next < e.count {
		r := pipeline.Record{Line: int64(e.next + 1), Email: fmt.Sprintf("%d@mail.example", e.next)}
		e.next++
		if e.bad > 0 && e.next%e.bad == 0 {
			r.Err = errors.New("unreadable")
		}
		dst = append(dst, r)
	}
	if len(dst) == 0 && e.block != nil {
		<-e.block
	}
	if len(dst) == 0 {
		return dst, io.EOF
	}
	return dst, nil
}

// A checkerFunc is a checker of one address.
type checkerFunc func(ctx context.Context, r *pipeline.Record, o *pipeline.Outcome) error

func (f checkerFunc) Check(ctx context.Context, records []pipeline.Record, outcomes []pipeline.Outcome) error {
	for n := range records {
		if err := f(ctx, &records[n], &outcomes[n]); err != nil {
			return err
		}
	}
	return nil
}

// valid finds every address valid.
func valid(_ context.Context, r *pipeline.Record, o *pipeline.Outcome) error {
	o.JSON, o.Flags.Valid = append(o.JSON[:0], r.Email...), true
	return nil
}

// lines writes the JSON of each outcome on a line.
type lines struct{}

func (lines) Head(dst []byte) ([]byte, error) { return append(dst, "head\n"...), nil }

func (lines) Append(dst []byte, r *pipeline.Record, o *pipeline.Outcome) ([]byte, error) {
	if r.Err != nil {
		return append(dst, "bad\n"...), nil
	}
	return append(append(dst, o.JSON...), '\n'), nil
}

func wantLines(count, bad int) string {
	var want strings.Builder
	want.WriteString("head\n")
	for n := range count {
		if bad > 0 && (n+1)%bad == 0 {
			want.WriteString("bad\n")
		} else {
			fmt.Fprintf(&want, "%d@mail.example\n", n)
		}
	}
	return want.String()
}

// Workers that overtake each other change neither the order nor the counts.
func TestRunKeepsOrder(t *testing.T) {
	var n atomic.Int64
	jitter := func(ctx context.Context, r *pipeline.Record, o *pipeline.Outcome) error {
		if n.Add(1)%500 == 0 {
			time.Sleep(3 * time.Millisecond) // real time: a record that takes longer
		}
		return valid(ctx, r, o)
	}
	var out bytes.Buffer
	var bad []int64
	r := pipeline.Run{Input: &emails{count: 20_000, bad: 7}, Checker: checkerFunc(jitter), Format: lines{}, Output: &out, Workers: 8,
		Bad: func(r *pipeline.Record) { bad = append(bad, r.Line) }}
	counts, err := r.Do(context.Background())
	require.NoError(t, err)
	require.Equal(t, wantLines(20_000, 7), out.String())
	require.EqualValues(t, 20_000, counts.Records)
	require.EqualValues(t, 20_000/7, counts.Bad)
	require.EqualValues(t, 20_000-20_000/7, counts.Valid)
	require.Len(t, bad, 20_000/7)
	require.IsIncreasing(t, bad)
}

func TestRunOfNothingHasAHead(t *testing.T) {
	var out bytes.Buffer
	r := pipeline.Run{Input: &emails{}, Checker: checkerFunc(valid), Format: lines{}, Output: &out, Workers: 1}
	_, err := r.Do(context.Background())
	require.NoError(t, err)
	require.Equal(t, "head\n", out.String())
}

func TestStrictRunEndsAtTheFirstBadRecord(t *testing.T) {
	var out bytes.Buffer
	r := pipeline.Run{Input: &emails{count: 5000, bad: 1234}, Checker: checkerFunc(valid), Format: lines{}, Output: &out, Workers: 4, Strict: true}
	counts, err := r.Do(context.Background())
	require.EqualError(t, err, "line 1234: unreadable")
	require.EqualValues(t, 1233, counts.Records)
	require.Equal(t, wantLines(1233, 0), out.String())
}

// headless fails at the head.
type headless struct{ lines }

func (headless) Head(dst []byte) ([]byte, error) {
	return append(dst, "half"...), errors.New("no header")
}

// A writerFunc is a writer.
type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// A run whose head fails reads no further and checks nothing, also before it has ended.
func TestFailedHeadEndsTheReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checked atomic.Bool
		none := func(context.Context, *pipeline.Record, *pipeline.Outcome) error {
			checked.Store(true)
			return nil
		}
		in := &emails{count: 5000}
		wrote := 0
		atOutput := func([]byte) {
			synctest.Wait()
			require.Equal(t, 256, in.next, "one chunk")
			wrote++
		}
		r := pipeline.Run{Input: in, Checker: checkerFunc(none), Format: headless{}, Output: writerFunc(atOutput), Workers: 2}
		_, err := r.Do(t.Context())
		require.EqualError(t, err, "no header")
		require.Equal(t, 1, wrote)
		require.False(t, checked.Load())
	})
}

// An error of the checker ends the run after what precedes its chunk.
func TestErrorWritesWhatPrecedesIt(t *testing.T) {
	failure := errors.New("no more points")
	fails := func(ctx context.Context, r *pipeline.Record, o *pipeline.Outcome) error {
		if r.Line == 3000 {
			return failure
		}
		return valid(ctx, r, o)
	}
	var out bytes.Buffer
	r := pipeline.Run{Input: &emails{count: 100_000}, Checker: checkerFunc(fails), Format: lines{}, Output: &out, Workers: 4}
	counts, err := r.Do(context.Background())
	require.ErrorIs(t, err, failure)
	require.Equal(t, wantLines(int(counts.Records), 0), out.String())
	require.EqualValues(t, 2816, counts.Records, "11 chunks of 256")
}

// A run ends at once when its context does, also while Read waits for input.
func TestRunEndsWithItsContext(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	ctx, cancel := context.WithCancel(context.Background())
	var out bytes.Buffer
	r := pipeline.Run{Input: &emails{count: 10, block: block}, Checker: checkerFunc(valid), Format: lines{}, Output: &out, Workers: 2,
		Written: func(c pipeline.Counts) {
			if c.Records == 10 {
				cancel()
			}
		}}
	counts, err := r.Do(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 10, counts.Records)
	require.Equal(t, wantLines(10, 0), out.String())
}

// A writer that fails after some bytes, as a full disk does.
type fullDisk struct{ room, wrote int }

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room-d.wrote)
	d.wrote += n
	if n < len(p) {
		return n, errors.New("disk full")
	}
	return n, nil
}

// After a failed write the counts are those of whole chunks that were written.
func TestFailedWriteIsNotCounted(t *testing.T) {
	disk := &fullDisk{room: 200_000}
	r := pipeline.Run{Input: &emails{count: 100_000}, Checker: checkerFunc(valid), Format: lines{}, Output: disk, Workers: 4}
	counts, err := r.Do(context.Background())
	require.EqualError(t, err, "disk full")
	require.Positive(t, counts.Records)
	require.LessOrEqual(t, len(wantLines(int(counts.Records), 0)), disk.room)
}

// A list is an input of the records in it.
type list []pipeline.Record

func (l *list) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	n := min(cap(dst), len(*l))
	dst = append(dst, (*l)[:n]...)
	*l = (*l)[n:]
	if n == 0 {
		return dst, io.EOF
	}
	return dst, nil
}

// The memory of a run does not grow with its input: ten times as many records need no more.
func TestMemoryDoesNotGrow(t *testing.T) {
	view := newEngine(t).View()
	peak := func(rows int) (most uint64) {
		in := input.New(&repeated{line: []byte("jane.doe@mail.example\n"), left: rows}, input.Options{})
		r := pipeline.Run{Input: in, Checker: &pipeline.Local{View: view}, Format: &output.NDJSON{}, Output: io.Discard, Workers: 2}
		var stats runtime.MemStats
		records := int64(0)
		r.Written = func(c pipeline.Counts) {
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
