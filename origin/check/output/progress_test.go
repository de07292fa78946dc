package output

import (
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// readPart reads n records in some bytes of the input.
func readPart(p *Progress, n, bytes int) {
	io.Copy(io.Discard, p.Reader(strings.NewReader(strings.Repeat("x", bytes))))
	p.records.Add(int64(n))
}

func TestProgressLine(t *testing.T) {
	p := NewProgress(nil, nil, 1000, new(atomic.Int64))
	readPart(p, 1000, 500) // so there are about 2000 records, and not half of them are done
	p.Written(pipeline.Counts{Records: 500})
	require.Equal(t, " 25 % [=======                       ] 500 done, 100 per second, 15s left", p.line(100, 5*time.Second))
	require.Equal(t, " 25 % [==         ] 500 done, 100 per second, 15s left", p.line(54, 5*time.Second))
	require.Equal(t, " 25 % 500 done, 100 per second, 15s left", p.line(42, 5*time.Second))
	require.Equal(t, "500 done, 10", p.line(12, 5*time.Second))
	require.Empty(t, p.line(-1, time.Second))
	require.NotContains(t, p.line(100, 24000*time.Hour), "left", "so long an estimate says nothing")
}

func TestProgressOfAPipe(t *testing.T) {
	p := NewProgress(nil, nil, 0, new(atomic.Int64))
	readPart(p, 1000, 500)
	p.Written(pipeline.Counts{Records: 500})
	require.Equal(t, "500 done, 1,000 per second", p.line(80, time.Second/2))
}

// A file that grows, or a size that was wrong, does not make more than 100 %.
func TestProgressOfAGrowingFile(t *testing.T) {
	p := NewProgress(nil, nil, 10, new(atomic.Int64))
	readPart(p, 10, 1000)
	p.Written(pipeline.Counts{Records: 500})
	require.True(t, strings.HasPrefix(p.line(80, time.Second), "100 % [==="), p.line(80, time.Second))
}

func TestProgressDrawsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen strings.Builder
		var width atomic.Int64
		width.Store(80)
		p := NewProgress(&screen, func() int { return int(width.Load()) }, 1000, new(atomic.Int64))
		p.Start()
		readPart(p, 1000, 500)
		p.Written(pipeline.Counts{Records: 500})
		time.Sleep(time.Second + redrawEvery/2)
		synctest.Wait()
		require.Equal(t, 10, strings.Count(screen.String(), clearLine), "ten times a second")
		require.NotContains(t, screen.String(), "\n")

		screen.Reset()
		io.WriteString(p, "a message\n")
		require.Equal(t, clearLine+"a message\n", screen.String())
		width.Store(20) // the terminal was made smaller
		time.Sleep(redrawEvery)
		synctest.Wait()
		require.Contains(t, screen.String(), "a message\n"+clearLine+"500 done, 454 per s")

		p.Stop()
		require.True(t, strings.HasSuffix(screen.String(), clearLine), "nothing remains")
		before := screen.Len()
		time.Sleep(time.Minute)
		require.Equal(t, before, screen.Len())
		io.WriteString(p, "after\n")
		require.True(t, strings.HasSuffix(screen.String(), clearLine+"after\n"))
	})
}

// A run that is shorter than the first redraw shows nothing.
func TestProgressOfAShortRun(t *testing.T) {
	var screen strings.Builder
	p := NewProgress(&screen, func() int { return 80 }, 0, new(atomic.Int64))
	p.Start()
	p.Stop()
	require.Equal(t, clearLine, screen.String())
}
