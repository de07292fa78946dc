package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// diskFull fills the ledger's disk under load. Requests get 503 and are not
// charged. They are served again once there is space.
func diskFull(s *session) error {
	dir := filepath.Join(s.dir, "disk")
	unmount, err := mountSmallDisk(dir)
	if err != nil {
		return skip(err.Error())
	}
	defer unmount()
	s.database = "sqlite:" + filepath.Join(dir, "addrspec.db")
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	o := &outage{session: s, account: a} // no load with Idempotency-Key
	for range s.times(4) {
		// A process that exits in order leaves no write-ahead log, so the next one
		// must allocate its own.
		p, err := s.start()
		if err != nil {
			return err
		}
		o.at = always(p.address)
		filler := filepath.Join(dir, "filler")
		if err := s.fill(filler); err != nil {
			return err
		}
		if err := o.try("full", func(l *load) error { return s.expectFull(l, filler) }); err != nil {
			return err
		}
		if err := p.Terminate(grace); err != nil {
			return err
		}
	}
	return nil
}

// fill writes to the file until the disk is full.
func (s *session) fill(path string) error {
	filler, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err = io.Copy(filler, endless{}); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk does not become full: %w", err)
	}
	return filler.Close()
}

// expectFull expects requests to be refused while the load pauses, and then frees
// the space.
func (s *session) expectFull(l *load, filler string) error {
	defer os.Remove(filler)
	return l.atRest(func() error { return s.expectRefusals(l) })
}

// expectRefusals sends requests while the load pauses. Each gets 503, and the
// account's points do not change.
func (s *session) expectRefusals(l *load) error {
	before, err := s.used(l.account)
	if err != nil {
		return err
	}
	c := &client{address: l.at(0), key: l.account.key}
	for range 5 {
		r := single("jane@mail.example")
		o := c.send(r)
		l.count(r, o)
		s.expect(o.status == 503, "on a full disk the response is %d: %s", o.status, o.body)
	}
	after, err := s.used(l.account)
	s.expect(before == after, "on a full disk %d points were charged", after-before)
	return err
}

// endless is a reader of zeros without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }
