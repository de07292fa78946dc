package origintest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A Process is a program that has written its first line.
type Process struct {
	FirstLine string

	cmd   *exec.Cmd
	ended chan struct{} // closed once the process has ended
}

// OnStdout makes [Start] read the first line from standard output.
func OnStdout(cmd *exec.Cmd, pipe *os.File) { cmd.Stdout = pipe }

// OnDescriptor3 makes [Start] read the first line from file descriptor 3, to which
// workerd writes it with --control-fd=3.
func OnDescriptor3(cmd *exec.Cmd, pipe *os.File) { cmd.ExtraFiles = []*os.File{pipe} }

// Start starts cmd and returns once it has written its first line, to the pipe that
// attach gives it: [OnStdout] or [OnDescriptor3]. Later output to the pipe is
// discarded. Start returns an error if the program ends before the line.
func Start(cmd *exec.Cmd, attach func(*exec.Cmd, *os.File)) (*Process, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	attach(cmd, in)
	err = cmd.Start()
	in.Close()
	if err != nil {
		out.Close()
		return nil, err
	}
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(p.ended) }()
	if p.FirstLine, err = FirstLine(out); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends the process a signal.
func (p *Process) Signal(signal os.Signal) error { return p.cmd.Process.Signal(signal) }

// Kill ends the process as a crash would, and returns once it has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Terminate sends SIGTERM and waits. A process that does not end in time is
// killed; that is an error, and so is any exit code but 0.
func (p *Process) Terminate(within time.Duration) error {
	_ = p.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(within):
		p.Kill()
		return fmt.Errorf("the process still ran %s after SIGTERM", within)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the process exited with code %d", code)
	}
	return nil
}

// Wait returns once the process has ended.
func (p *Process) Wait() { <-p.ended }
