package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// A read of a pipe that sends nothing cannot be cancelled. The first signal ends the
// program all the same: at once, with everything written that was read.
func TestCheckEndsAtOnceWhileItReads(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		var problem bytes.Buffer
		cmd := program(checkArgs(t, "--offline")...)
		cmd.Stderr = &problem
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		io.WriteString(in, "first@mail.example\nsecond@mail.example\n")
		written := readLines(t, out, 2)
		require.NoError(t, cmd.Process.Signal(signal))
		rest, err := io.ReadAll(out)
		require.NoError(t, err)
		err = cmd.Wait()
		require.Contains(t, written, "second@mail.example")
		require.Empty(t, rest)
		require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode(), "%v: %v", signal, err)
		require.Contains(t, problem.String(), "2 records written; to go on, with the same input again, where FILE has the output so far: addrspec check --resume 2 ")
		require.Contains(t, problem.String(), " >> FILE\n")
	}
}

// readLines reads n lines, a byte at a time so that none is read beyond them.
func readLines(t *testing.T, from io.Reader, n int) string {
	t.Helper()
	var text []byte
	one := make([]byte, 1)
	for bytes.Count(text, []byte("\n")) < n {
		_, err := io.ReadFull(from, one)
		require.NoError(t, err, "%s", text)
		text = append(text, one...)
	}
	return string(text)
}

// While lookups wait for a resolver, the first signal ends the program too.
func TestCheckEndsAtOnceWhileItLooksUp(t *testing.T) {
	t.Parallel()
	server := mxtest.New(t, "")
	server.Respond("slow.example.", mxtest.Silent)
	var problem bytes.Buffer
	cmd := program(checkArgs(t, "--dns", server.Addr, "--dns-timeout", "1m", "a@slow.example")...)
	cmd.Stderr = &problem
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return server.Asked("slow.example.") > 0 }, hung, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode(), problem.String())
	require.Contains(t, problem.String(), "interrupted: no record was written")
}

// With records in a file, the terminal has progress and then the summary; in a pipe,
// standard error has the summary alone.
func TestCheckShowsProgressOnATerminal(t *testing.T) {
	t.Parallel()
	file, output := fileOf(t, "list.txt", strings.Repeat("jane@mail.example\n", 150_000)), t.TempDir()+"/out.ndjson"
	cmd := program(checkArgs(t, "--offline", file, "-o", output)...)
	cmd.Env = append(cmd.Env, "TERM=xterm")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 90})
	require.NoError(t, err)
	defer terminal.Close()
	screen := &screen{t: t, from: terminal}
	screen.waitFor("%")
	screen.waitFor("150,000")
	require.NoError(t, cmd.Wait())

	cmd = program(checkArgs(t, "--offline", file)...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	require.NoError(t, cmd.Run())
	require.NotContains(t, problem.String(), "\x1b")
	require.NotContains(t, problem.String(), "\r")
	require.Contains(t, problem.String(), "150,000")
}

// A resolver that dies in the middle ends the run with how to resume it.
func TestCheckEndsInAnOutage(t *testing.T) {
	t.Parallel()
	server := mxtest.New(t, "")
	var list strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&list, "jane@d%d.example\n", n)
	}
	server.Respond("d2000.example.", func(dns.ResponseWriter, *dns.Msg) { server.RespondAll(mxtest.Silent) })
	var problem bytes.Buffer
	cmd := program(checkArgs(t, "--dns", server.Addr, "--dns-timeout", "100ms", "--workers", "8", fileOf(t, "list.txt", list.String()))...)
	cmd.Stderr = &problem
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	readLines(t, out, 1)
	_, err = io.Copy(io.Discard, out)
	require.NoError(t, err)
	var failure *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &failure)
	require.Equal(t, 1, failure.ExitCode())
	require.Contains(t, problem.String(), "the resolvers no longer respond")
	require.Regexp(t, `addrspec check --resume \d+ `, problem.String())
}
