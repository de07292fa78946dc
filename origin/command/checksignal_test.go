package command

import (
	"bytes"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

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
