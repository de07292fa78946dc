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

func TestProgress(t *testing.T) {
	half := Progress{Done: 500, Read: 1000, Bytes: 500, Size: 1000, Elapsed: 5 * time.Second} // of about 2000 records
	growing := Progress{Done: 500, Read: 10, Bytes: 1000, Size: 10, Elapsed: time.Second}
	pipe, slow := half, half
	pipe.Size, slow.Elapsed = 0, 24000*time.Hour
	for _, c := range []struct {
		p     Progress
		width int
		want  string
	}{
		{half, 100, " 25 % [=======                       ] 500 done, 100 per second, 15s left"},
		{half, 54, " 25 % [==         ] 500 done, 100 per second, 15s left"},
		{half, 42, " 25 % 500 done, 100 per second, 15s left"},
		{half, 12, "500 done, 10"},
		{half, -1, ""},
		{slow, 40, " 25 % [==       ] 500 done, 0 per second"}, // so long an estimate says nothing
		{pipe, 80, "500 done, 100 per second"},
		{growing, 50, "100 % [========] 500 done, 500 per second, 0s left"}, // never more
	} {
		require.Equal(t, c.want, c.p.Text(c.width))
	}
}

func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen strings.Builder
		var text atomic.Value
		text.Store("a line")
		l := &Line{To: &screen, Text: func() string { return text.Load().(string) }}
		l.Start()
		time.Sleep(time.Second + redrawEvery/2)
		synctest.Wait()
		require.Equal(t, strings.Repeat(clearLine+"a line", 10), screen.String(), "ten times a second")

		screen.Reset()
		io.WriteString(l, "a message\n")
		require.Equal(t, clearLine+"a message\n", screen.String())
		text.Store("another")
		time.Sleep(redrawEvery)
		synctest.Wait()
		require.Equal(t, clearLine+"a message\n"+clearLine+"another", screen.String())

		l.Stop()
		require.True(t, strings.HasSuffix(screen.String(), clearLine), "nothing remains")
		before := screen.Len()
		time.Sleep(time.Minute)
		require.Equal(t, before, screen.Len())
		io.WriteString(l, "after\n")
		require.True(t, strings.HasSuffix(screen.String(), clearLine+"after\n"))
	})
}

// A run that is shorter than the first redraw shows nothing.
func TestLineOfAShortRun(t *testing.T) {
	var screen strings.Builder
	l := &Line{To: &screen, Text: func() string { return "a line" }}
	l.Start()
	l.Stop()
	require.Equal(t, clearLine, screen.String())
}
