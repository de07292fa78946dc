package output

import (
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// On a terminal there are colours and a width, unless its user wants none. origin/command has check at a terminal.
func TestOnTerminal(t *testing.T) {
	other, terminal, err := pty.Open()
	require.NoError(t, err)
	defer other.Close()
	defer terminal.Close()
	require.NoError(t, pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: 60}))
	require.Equal(t, 60, TerminalWidth(terminal))
	for env, colored := range map[[2]string]bool{{"", "xterm"}: true, {"1", "xterm"}: false, {"", "dumb"}: false} {
		t.Setenv("NO_COLOR", env[0])
		t.Setenv("TERM", env[1])
		require.Equal(t, colored, Colored("auto", terminal), env)
		require.True(t, Colored("always", terminal), "a flag is stronger than the environment")
		require.False(t, Colored("never", terminal))
		require.False(t, Colored("auto", new(strings.Builder)))
	}
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
