package main

import (
	"io"
	"syscall"
	"time"
	"unsafe"
)

// descriptor is an open file of the host. Go makes the standard three
// non-blocking at the start and then polls, which not every host does alike;
// this program does one thing at a time and would rather wait.
type descriptor int

func openInput() io.Reader  { return open(0) }
func openOutput() io.Writer { return open(1) }
func openErrors() io.Writer { return open(2) }

// open makes fd blocking. A host may not know how, or share fd with a program
// that makes it non-blocking again, so EAGAIN can come all the same.
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

// Write writes all of p, in as many pieces as the host takes.
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

// Kinds of events to wait for (WASI preview 1, eventtype).
const (
	fdRead  = 1
	fdWrite = 2
)

// subscription is what poll_oneoff takes (WASI preview 1, subscription). Its
// union begins at 16 and is as large as its widest member, a clock.
type subscription struct {
	userdata uint64
	kind     uint64 // an octet, and what aligns the union
	fd       uint32
	_        [7]uint32
}

type event [4]uint64

//go:wasmimport wasi_snapshot_preview1 poll_oneoff
func pollOneoff(in, out unsafe.Pointer, count uint32, happened unsafe.Pointer) uint32

// wait waits until d can be read or written, or, where the host cannot tell,
// a moment.
func (d descriptor) wait(kind uint8) {
	in, out, happened := subscription{kind: uint64(kind), fd: uint32(d)}, event{}, uint32(0)
	if pollOneoff(unsafe.Pointer(&in), unsafe.Pointer(&out), 1, unsafe.Pointer(&happened)) != 0 || happened == 0 {
		time.Sleep(time.Millisecond)
	}
}
