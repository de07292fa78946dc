package output

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// terminalEnv makes the test binary the program on the other side of a terminal.
const terminalEnv = "ADDRSPEC_TEST_TERMINAL"

func TestMain(m *testing.M) {
	if os.Getenv(terminalEnv) == "" {
		os.Exit(m.Run())
	}
	tableOnTerminal()
}

// tableOnTerminal writes a table of hostile text to standard output.
func tableOnTerminal() {
	table := &Table{Width: TerminalWidth(os.Stdout), Color: Colored("auto", os.Stdout)}
	head, _ := table.Head(nil)
	os.Stdout.Write(head)
	for _, text := range []string{"slow.example", "\x1b[2J\x1b]0;title\x07", "日本語" + strings.Repeat("字", 50), "\u202eabc"} {
		o := pipeline.Outcome{Code: "DNS_TIMEOUT", Message: "DNS lookup timed out for domain " + text}
		line, _ := table.Append(nil, &pipeline.Record{Email: "a@" + text}, &o)
		os.Stdout.Write(line)
	}
}

func TestTableOnTerminal(t *testing.T) {
	colored := func(columns uint16, env ...string) string {
		command := exec.Command(os.Args[0])
		command.Env = append([]string{terminalEnv + "=1", "TERM=xterm"}, env...)
		terminal, err := pty.StartWithSize(command, &pty.Winsize{Rows: 24, Cols: columns})
		require.NoError(t, err)
		defer terminal.Close()
		text, _ := io.ReadAll(terminal) // Linux ends with EIO once the other side is closed
		require.NoError(t, command.Wait())
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	got := colored(60)
	require.Contains(t, got, "\x1b[33mCould not be")
	require.NotContains(t, sgr.ReplaceAllString(got, ""), "\x1b", "no escape sequences but colors")
	require.NotContains(t, got, "\x07")
	require.NotContains(t, got, "\u202e")
	for line := range strings.SplitSeq(sgr.ReplaceAllString(got, ""), "\n") {
		require.LessOrEqual(t, uniseg.StringWidth(line), 60, line)
	}
	require.NotEqual(t, got, colored(80), "the width is the terminal's")
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		require.NotContains(t, colored(60, env), "\x1b", env)
	}
	require.Equal(t, got, colored(60, "NO_COLOR="), "an empty NO_COLOR does not count")
}

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
