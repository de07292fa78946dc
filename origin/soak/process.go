package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/addrspec/addrspec/origin/origintest"
)

// A process is a running `addrspec serve`.
type process struct {
	*origintest.Process
	address string
	log     string // path of the file
}

// start runs the program at a free address and returns once it listens.
func (s *session) start(flags ...string) (*process, error) {
	address, err := origintest.FreeAddress()
	if err != nil {
		return nil, err
	}
	return s.startAt(address, flags...)
}

// startAt is start at a given address.
func (s *session) startAt(address string, flags ...string) (*process, error) {
	args := append([]string{"serve", "--listen", address, "--database", s.database, "--dns", s.dns.Addr,
		"--dns-timeout", dnsTimeout.String(), "--batch-timeout", batchTimeout.String(),
		"--grace", grace.String(), "--cache-dir", s.cache}, flags...)
	p := &process{address: address, log: filepath.Join(s.dir, fmt.Sprintf("log-%d", len(s.processes)))}
	cmd := exec.Command(s.program, args...)
	cmd.Env = append(os.Environ(), s.environment...)
	dieWithParent(cmd)
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	if p.Process, err = origintest.Start(cmd, origintest.OnStdout); err != nil {
		text, _ := os.ReadFile(p.log)
		return nil, fmt.Errorf("%w: %s", err, text[:min(300, len(text))])
	}
	s.processes = append(s.processes, p)
	return p, nil
}

// The flags of every process.
const (
	dnsTimeout   = time.Second
	batchTimeout = 3 * time.Second
	grace        = 10 * time.Second
)
