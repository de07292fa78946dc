package check_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/wasm/host"
)

// BenchmarkList measures the whole path of a list, offline, beside the module
// alone on all processors, which is the limit.
func BenchmarkList(b *testing.B) {
	const rows = 200_000
	emails := manyEmails(rows)
	text := strings.Join(emails, "\n")
	csv := "id,email\n1," + strings.Join(emails, "\n1,")
	view := newEngine(b).View()
	b.Run("module alone", func(b *testing.B) { measure(b, rows, func() { moduleAlone(b, view, emails) }) })
	b.Run("text to NDJSON", func(b *testing.B) {
		measure(b, rows, func() { runList(b, view, input.New(strings.NewReader(text), input.Options{}), &output.NDJSON{}) })
	})
	b.Run("CSV to CSV", func(b *testing.B) {
		measure(b, rows, func() {
			in := input.New(strings.NewReader(csv), input.Options{})
			runList(b, view, in, &output.CSV{Layout: in})
		})
	})
}

func manyEmails(n int) []string {
	names, domains := []string{"jane.doe", "info", "xkqjzvwq", "j.smith+news"}, []string{"gmail.com", "gmial.com", "mailinator.com", "corp.example", "web.de"}
	emails := make([]string, n)
	for k := range emails {
		emails[k] = fmt.Sprintf("%s%d@%s", names[k%len(names)], k%997, domains[k%len(domains)])
	}
	return emails
}

func measure(b *testing.B, rows int, do func()) {
	for b.Loop() {
		do()
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "addresses/s")
}

func moduleAlone(b *testing.B, view *host.View, emails []string) {
	var group sync.WaitGroup
	share := (len(emails) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	for start := 0; start < len(emails); start += share {
		group.Go(func() {
			var buffer []byte
			for _, email := range emails[start:min(start+share, len(emails))] {
				facts, err := view.Check(context.Background(), buffer[:0], email, 0)
				if err != nil {
					b.Error(err)
					return
				}
				buffer = facts.JSON
			}
		})
	}
	group.Wait()
}

func runList(b *testing.B, view *host.View, in check.Input, format check.Format) {
	r := check.Run{Input: in, Checker: &check.Local{View: view}, Format: format, Output: io.Discard, Workers: runtime.GOMAXPROCS(0)}
	_, err := r.Do(context.Background())
	require.NoError(b, err)
}

// The memory of a run does not grow with its input: 400,000 records need no more
// than 40,000 do.
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
	few, many := peak(40_000), peak(400_000)
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
