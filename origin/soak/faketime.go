package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// A clock sets the time of the ledger.
type clock struct {
	dir     string
	program string // file of the seconds by which the program's clock is ahead
	server  string // the same for PostgreSQL, in libfaketime's format; "" with SQLite
	release []func()
}

// newClock makes a clock and has the session's programs use it.
func (s *session) newClock() (c *clock, err error) {
	c = &clock{}
	if c.dir, err = os.MkdirTemp("", "addrspec-clock-"); err != nil {
		return nil, err
	}
	c.release = append(c.release, func() { os.RemoveAll(c.dir) })
	c.program = filepath.Join(c.dir, "program")
	if s.kind == postgres {
		c.server = filepath.Join(c.dir, "server")
	}
	if err = errors.Join(os.Chmod(c.dir, 0o755), c.set(time.Now())); err == nil && s.kind == postgres {
		err = c.startServer(s)
	}
	if err == nil {
		s.environment = []string{offsetVariable + "=" + c.program}
		s.program, err = s.lab.shifted()
	}
	if err != nil {
		c.remove()
	}
	return c, err
}

func (c *clock) remove() {
	for n := len(c.release) - 1; n >= 0; n-- {
		c.release[n]()
	}
}

// set sets the clock, at once for every process that reads it.
func (c *clock) set(to time.Time) error {
	seconds := int64(time.Until(to) / time.Second)
	var offset [8]byte
	binary.NativeEndian.PutUint64(offset[:], uint64(seconds))
	err := overwrite(c.program, offset[:])
	if c.server != "" {
		err = errors.Join(err, overwrite(c.server, fmt.Appendf(nil, "%+012d\n", seconds)))
	}
	return err
}

// overwrite changes a file in place without changing its length, so that no reader
// sees a part of it.
func overwrite(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(content, 0)
	return errors.Join(err, file.Close())
}

// startServer starts a PostgreSQL with a clock that libfaketime sets.
func (c *clock) startServer(s *session) error {
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(found) == 0 {
		return skip("setting PostgreSQL's clock needs libfaketime: apt-get install faketime")
	}
	pg, err := pgtest.Start("LD_PRELOAD="+found[0], "FAKETIME_TIMESTAMP_FILE="+c.server, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1")
	if err != nil {
		return err
	}
	c.release = append(c.release, pg.Close)
	s.database, err = pg.EmptyDatabase(s.ctx)
	return err
}

// startReplicas starts two processes. With PostgreSQL the second one's own clock is
// correct and the first one's is set with the server's: neither must matter.
func (c *clock) startReplicas(s *session) (at func(client int) string, err error) {
	first, err := s.start()
	if err != nil {
		return nil, err
	}
	if s.kind == postgres {
		s.program = s.lab.binary
	}
	second, err := s.start()
	s.program, _ = s.lab.shifted()
	if err != nil {
		return nil, err
	}
	list := []string{first.address, second.address}
	return func(client int) string { return list[client%2] }, nil
}

// offsetVariable is the environment variable that names the file a shifted program
// reads.
const offsetVariable = "SOAK_CLOCK"

// now replaces time.Now in a shifted program. The wall clock is ahead by the
// seconds in the file and the monotonic clock is unchanged, as when an operator
// sets a machine's clock. The file is mapped into memory because the runtime also
// reads the time where it cannot make a system call.
const now = `
var ahead = mapAhead()

func mapAhead() []byte {
	name, _ := syscall.Getenv("` + offsetVariable + `")
	file, err := syscall.Open(name, syscall.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	mapped, _ := syscall.Mmap(file, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	return mapped
}

func Now() Time {
	t := trueNow()
	if len(ahead) == 8 {
		t.addSec(*(*int64)(unsafe.Pointer(&ahead[0])))
	}
	return t
}
`

// buildShifted builds the program with another time.Now and no other change, since
// no tool can set the clock of a static program from outside.
func (l *lab) buildShifted(ctx context.Context) (path string, err error) {
	root, err := output(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return "", err
	}
	original := filepath.Join(root, "src/time/time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	renamed := bytes.Replace(source, []byte("func Now() Time {"), []byte("func trueNow() Time {"), 1)
	imports := bytes.Replace(renamed, []byte("import (\n"), []byte("import (\n\t\"syscall\"\n\t\"unsafe\"\n"), 1)
	changed := filepath.Join(l.dir, "time.go")
	if err := os.WriteFile(changed, append(imports, now...), 0o600); err != nil {
		return "", err
	}
	path = filepath.Join(l.dir, "addrspec-shifted")
	return path, l.buildProgram(ctx, path, map[string]string{original: changed})
}
