package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// A process is a running `addrspec serve`.
type process struct {
	cmd     *exec.Cmd
	address string
	log     string        // path
	ended   chan struct{} // closed once it has
}

// start runs the program at an address of its own and returns once it listens.
func (s *scene) start(flags ...string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return s.startAt(address, flags...)
}

// freeAddress is a free port, below those that systems give to clients: there
// a client, of this program or of another, could take the port while the
// service is down.
func freeAddress() (string, error) {
	for range 100 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 15_000+rand.IntN(15_000)))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", errors.New("no port is free between 15000 and 30000")
}

// startAt runs the program at an address.
func (s *scene) startAt(address string, flags ...string) (*process, error) {
	args := append([]string{"serve", "--listen", address, "--database", s.database, "--dns", s.dns.Addr,
		"--dns-timeout", dnsTimeout.String(), "--batch-timeout", batchTimeout.String(),
		"--grace", grace.String(), "--cache-dir", s.cache}, flags...)
	p := &process{cmd: exec.Command(s.program, args...), ended: make(chan struct{}),
		log: filepath.Join(s.dir, fmt.Sprintf("log-%d", len(s.processes)))}
	p.cmd.Env = append(os.Environ(), s.environment...)
	dieWithParent(p.cmd)
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd.Stderr = log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	s.processes = append(s.processes, p)
	return p, p.awaitAddress(out)
}

// Flags of every process.
const (
	dnsTimeout   = time.Second
	batchTimeout = 3 * time.Second
	grace        = 10 * time.Second
)

// awaitAddress reads where the process listens from its first line.
func (p *process) awaitAddress(out io.Reader) error {
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	_, address, found := strings.Cut(strings.TrimSpace(line), "http://")
	if err != nil || !found {
		said, _ := os.ReadFile(p.log)
		return fmt.Errorf("the program did not start: %s", said[:min(300, len(said))])
	}
	p.address = address
	return nil
}

// kill ends the process as a crash would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// terminate asks the process to end and waits for it; nil is exit code 0.
func (p *process) terminate(within time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(within):
		return fmt.Errorf("it still runs after %s", within)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("it exits with %d", code)
	}
	return nil
}

// expectPrivate reads a process's log: no address and no key is in it.
func (s *scene) expectPrivate(p *process) {
	log, err := os.ReadFile(p.log)
	s.expect(err == nil, "%v", err)
	if found := secret.Find(log); found != nil {
		s.expect(false, "a log holds %q", found)
	}
}

// lastError is the last error in a process's log, for the report of a failure.
func (p *process) lastError() string {
	log, _ := os.ReadFile(p.log)
	last := ""
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, `"level":"ERROR"`) || !strings.HasPrefix(line, "{") {
			last = strings.TrimSpace(line)
		}
	}
	return last
}

// secret is an address, or a key.
var secret = regexp.MustCompile(`[\w.]+@[\w.]+|ask_\w*`)
