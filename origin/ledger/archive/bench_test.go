package archive

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkChargesDuringBackup measures what a backup costs a server: the charges of
// eight callers in another process, by intervals, without and with backups one after
// another. p99 is the mean of the intervals, slowest the maximum, in milliseconds.
//
//	go test ./origin/ledger/archive -run - -bench DuringBackup -benchtime 20x
func BenchmarkChargesDuringBackup(b *testing.B) {
	url, dir := newSQLite(b), b.TempDir()
	secret := newLedger(b, url)
	grow(b, url, 1_500_000)
	w := startWorker(b, url, secret)
	b.Run("without", func(b *testing.B) { w.report(b) })
	stop, ended := make(chan struct{}), make(chan struct{})
	var took, backups time.Duration
	go func() {
		defer close(ended)
		for ; ; backups++ {
			select {
			case <-stop:
				return
			default:
			}
			began := time.Now()
			_, err := Backup(b.Context(), pathOf(url), filepath.Join(dir, "copy.db"), true, nil)
			require.NoError(b, err)
			took += time.Since(began)
		}
	}()
	b.Run("with", func(b *testing.B) { w.report(b) })
	close(stop)
	<-ended
	info, err := os.Stat(pathOf(url))
	require.NoError(b, err)
	log, err := os.Stat(pathOf(url) + "-wal")
	require.NoError(b, err)
	fmt.Fprintf(os.Stderr, "%d MB in %s; the write-ahead log has %d MB\n", info.Size()>>20, (took / backups).Round(time.Millisecond), log.Size()>>20)
}

// report reads a line of the worker for each of b.N intervals.
func (c *charger) report(b *testing.B) {
	var charges, p99, slowest, failed int
	for range b.N {
		require.True(b, c.lines.Scan())
		var n, p, s, f int
		_, err := fmt.Sscan(c.lines.Text(), &n, &p, &s, &f)
		require.NoError(b, err)
		charges, p99, slowest, failed = charges+n, p99+p, max(slowest, s), failed+f
	}
	b.ReportMetric(float64(charges)/(float64(b.N)*workerInterval.Seconds()), "charges/s")
	b.ReportMetric(float64(p99)/float64(b.N)/1000, "p99-ms")
	b.ReportMetric(float64(slowest)/1000, "slowest-ms")
	b.ReportMetric(float64(failed), "failed")
}

// BenchmarkExport measures the export of a million rows, and its import.
func BenchmarkExport(b *testing.B) {
	url := newSQLite(b)
	newLedger(b, url)
	grow(b, url, 1_000_000)
	var out bytes.Buffer
	b.Run("export", func(b *testing.B) {
		for b.Loop() {
			out.Reset()
			_, err := Export(b.Context(), url, &out)
			require.NoError(b, err)
		}
	})
	b.Run("import", func(b *testing.B) {
		for b.Loop() {
			_, err := Import(b.Context(), newSQLite(b), bytes.NewReader(out.Bytes()))
			require.NoError(b, err)
		}
	})
}
