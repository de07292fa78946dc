package command

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// listLength is the length of the list that BenchmarkCheckList checks.
const listLength = 1_000_000

// BenchmarkCheckList measures the whole command on a list, from its start to its
// end, beside the module alone on all cores with the same addresses in memory. The
// two take turns, so that both see the same machine. The ratio of their times is
// what a person sees; that of processor time is the one to compare on a busy machine.
func BenchmarkCheckList(b *testing.B) {
	text, csv := writeLists(b, b.TempDir(), listLength)
	for _, bench := range []struct{ name, file, to string }{
		{"text to ndjson", text, "ndjson"}, {"csv to csv", csv, "csv"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var whole, alone cost
			for b.Loop() {
				alone.add(func() { moduleAlone(b, text) })
				whole.add(func() { checkList(b, bench.file, "--to", bench.to) })
			}
			b.ReportMetric(float64(listLength*b.N)/whole.time.Seconds(), "addresses/s")
			b.ReportMetric(100*alone.time.Seconds()/whole.time.Seconds(), "%of-module")
			b.ReportMetric(100*alone.processor.Seconds()/whole.processor.Seconds(), "%of-module-cpu")
		})
	}
}

// A cost is what work has cost in time and in processor time of all cores.
type cost struct{ time, processor time.Duration }

func (c *cost) add(work func()) {
	start, before := time.Now(), processorTime()
	work()
	c.time += time.Since(start) // real time: a benchmark
	c.processor += processorTime() - before
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// checkList runs the command offline with its output to /dev/null.
func checkList(t testing.TB, args ...string) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	var problem bytes.Buffer
	args = checkArgs(t, append([]string{"--offline", "--quiet"}, args...)...)
	code := run(context.Background(), args, streams{strings.NewReader(""), null, &problem})
	require.Zero(t, code, problem.String())
}

// moduleAlone checks the lines of a file, which is in memory before, with an
// instance on each core. Like the command, it begins with loading the module.
func moduleAlone(t testing.TB, file string) {
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	engine, err := host.New(context.Background(), moduletest.Bytes(t), host.Options{CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	defer engine.Close(context.Background())
	var workers sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for core := range cores {
		workers.Go(func() { checkPart(t, engine.View(), lines[core*len(lines)/cores:(core+1)*len(lines)/cores]) })
	}
	workers.Wait()
}

func checkPart(t testing.TB, view *host.View, emails []string) {
	var facts host.Facts
	var err error
	for _, email := range emails {
		if facts, err = view.Check(context.Background(), facts.JSON[:0], email, 0); err != nil {
			t.Error(err)
			return
		}
	}
}

// writeLists writes a list as text and as CSV with other columns.
func writeLists(t testing.TB, directory string, length int) (text, csv string) {
	text, csv = filepath.Join(directory, "list.txt"), filepath.Join(directory, "list.csv")
	writeFile(t, text, func(w io.Writer) {
		for n := range length {
			fmt.Fprintln(w, listedAddress(n))
		}
	})
	writeFile(t, csv, func(w io.Writer) {
		io.WriteString(w, "id,name,email,city\n")
		for n := range length {
			fmt.Fprintf(w, "%d,\"Doe, Jane\",%s,Berlin\n", n, listedAddress(n))
		}
	})
	return text, csv
}

func writeFile(t testing.TB, path string, fill func(io.Writer)) {
	file, err := os.Create(path)
	require.NoError(t, err)
	buffered := bufio.NewWriter(file)
	fill(buffered)
	require.NoError(t, buffered.Flush())
	require.NoError(t, file.Close())
}

// listedAddress returns the n-th address of a list with typos, roles and domains of
// all classes.
func listedAddress(n int) string {
	locals := []string{"jane.doe%d", "info%d", "j.doe+news%d", "xkqjzvw%d", "otto%d", "a..b%d", "maria_garcia%d"}
	domains := []string{"mail.example", "gmail.com", "gmial.com", "mailinator.com", "uni.example", "example.org"}
	return fmt.Sprintf(locals[n%len(locals)], n) + "@" + domains[n%len(domains)]
}
