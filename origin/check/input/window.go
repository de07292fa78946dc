package input

import "io"

// bufferSize is the size of every buffer in bytes, and how much of an input is
// looked at to recognise it.
const bufferSize = 64 << 10

// A window is the part of the input that has arrived and is not used yet. It grows
// with the longest record, which its user limits.
type window struct {
	in    io.Reader
	buf   []byte // the bytes that have arrived
	start int    // of the unused ones
	err   error  // of in, after these bytes
}

// rest returns the unused bytes. They are valid until the next call of more.
func (w *window) rest() []byte { return w.buf[w.start:] }

// use drops the first n unused bytes.
func (w *window) use(n int) { w.start += n }

// ended reports whether the unused bytes are the last ones of an input that could
// be read whole.
func (w *window) ended() bool { return w.err == io.EOF }

// more reads at least one byte, unless err is set.
func (w *window) more() {
	if w.start > 0 {
		w.buf = append(w.buf[:0], w.rest()...)
		w.start = 0
	}
	if len(w.buf) == cap(w.buf) {
		w.buf = append(make([]byte, 0, max(bufferSize, 2*cap(w.buf))), w.buf...)
	}
	for range 100 {
		n, err := w.in.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf, w.err = w.buf[:len(w.buf)+n], err
		if n > 0 || err != nil {
			return
		}
	}
	w.err = io.ErrNoProgress
}
