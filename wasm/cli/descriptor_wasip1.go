package main

import (
	"io"
	"syscall"
	"time"
	"unsafe"
)

// descriptor is a file descriptor of the host. Go makes the standard ones
// non-blocking and polls them, which hosts implement differently. This program
// does one thing at a time, so it uses blocking ones.
type descriptor int

func openInput() io.Reader  { return open(0) }
func openOutput() io.Writer { return open(1) }
func openErrors() io.Writer { return open(2) }

// open makes fd blocking. A host may not support that, or may share fd with a
// program that makes it non-blocking again, so EAGAIN is still possible.
func open(fd int) descriptor {
	_ = syscall.SetNonblock(fd, false)
	return descriptor(fd)
}

func (d descriptor) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(d), p)
		switch {
		case again(err):
			d.wait(fdRead)
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Write writes all of p, with as many calls as the host needs.
func (d descriptor) Write(p []byte) (written int, err error) {
	for written < len(p) {
		n, err := syscall.Write(int(d), p[written:])
		switch {
		case again(err):
			d.wait(fdWrite)
		case err != nil:
			return written, err
		default:
			written += n
		}
	}
	return written, nil
}

func again(err error) bool { return err == syscall.EAGAIN || err == syscall.EINTR }

// Event types (WASI preview 1, eventtype).
const (
	fdRead  = 1
	fdWrite = 2
)

// subscription is the parameter of poll_oneoff (WASI preview 1, subscription).
// The union at offset 16 is as large as its widest member, a clock.
type subscription struct {
	userdata uint64
	kind     uint64 // one byte and padding
	fd       uint32
	_        [7]uint32
}

type event [4]uint64

//go:wasmimport wasi_snapshot_preview1 poll_oneoff
func pollOneoff(in, out unsafe.Pointer, count uint32, happened unsafe.Pointer) uint32

// wait waits until d is readable or writable, or for 1 ms if the host cannot
// poll.
func (d descriptor) wait(kind uint8) {
	in, out, happened := subscription{kind: uint64(kind), fd: uint32(d)}, event{}, uint32(0)
	if pollOneoff(unsafe.Pointer(&in), unsafe.Pointer(&out), 1, unsafe.Pointer(&happened)) != 0 || happened == 0 {
		time.Sleep(time.Millisecond)
	}
}
