package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// roleBench makes the test binary run as the program itself.
const roleBench = "role-bench"

// program is a run of the program with these flags.
func program(t *testing.T, flags ...string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	return exec.CommandContext(t.Context(), self, append([]string{roleBench}, flags...)...)
}

func TestProcess(t *testing.T) {
	dir := t.TempDir()
	cmd := program(t, "-quick", "-runs", "1", "-only", "^MX, not cached, one", "-dir", dir)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	require.NoError(t, err, errors.String())
	require.Contains(t, string(out), "dns.Exchange")
	require.Contains(t, errors.String(), "run 1 of 1")
	requireEmpty(t, dir)

	list, err := program(t, "-list").Output()
	require.NoError(t, err)
	require.Len(t, strings.Split(strings.TrimSpace(string(list)), "\n"), len(rows()))

	require.Error(t, program(t, "-runs", "0").Run())
}

// startLong starts a run that does not end by itself, and returns once it is in its
// second run, with the rest of its standard error and the processes that it started.
func startLong(t *testing.T, dir string) (cmd *exec.Cmd, rest io.Reader, children []string) {
	cmd = program(t, "-quick", "-runs", "100000", "-only", "^MX, not cached, one", "-dir", dir)
	pipe, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(pipe)
	for line := ""; !strings.HasPrefix(line, "run 2 "); {
		line, err = lines.ReadString('\n')
		require.NoError(t, err)
	}
	if children = childrenOf(cmd.Process.Pid); len(children) == 0 {
		_ = cmd.Process.Kill()
		t.Skip("skipped: this system does not list the children of a process")
	}
	return cmd, lines, children
}

// An interrupted run ends the processes that it started, and removes its files.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	cmd, stderr, children := startLong(t, dir)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	rest, err := io.ReadAll(stderr)
	require.NoError(t, err)
	require.Contains(t, string(rest), "interrupted")
	require.Error(t, cmd.Wait())
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	requireEmpty(t, dir)
	for _, child := range children {
		require.NoDirExists(t, "/proc/"+child)
	}
}

// A run that is killed cannot end its processes, so the system does.
func TestKilled(t *testing.T) {
	cmd, _, children := startLong(t, t.TempDir())
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for _, child := range children {
		require.Eventually(t, func() bool { _, err := os.Stat("/proc/" + child); return err != nil }, 2*time.Minute, 10*time.Millisecond)
	}
}

// childrenOf returns the processes that a process has started, on Linux.
func childrenOf(pid int) (all []string) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
