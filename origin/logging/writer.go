package logging

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	pendingLimit = 512 << 10             // bytes that wait; as many are being written
	gatherTime   = 10 * time.Millisecond // lines of so long are written together
	closeLimit   = time.Second           // for the last lines
)

// A writer hands lines to a goroutine that writes them. Write never waits for
// out: a line that does not fit is dropped and counted, and the count is written
// as soon as out takes lines again.
type writer struct {
	out    io.Writer
	notice func(dropped int64) []byte

	mu       sync.Mutex
	pending  []byte // whole lines
	dropped  int64
	reported int64 // of these, in notices that were written
	closed   bool

	wake    chan struct{} // has an element once pending has lines
	closing chan struct{}
	done    chan struct{}
}

func newWriter(out io.Writer, notice func(int64) []byte) *writer {
	w := &writer{out: out, notice: notice,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

// Write takes one line.
func (w *writer) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.pending)+len(line) > pendingLimit {
		w.dropped++
		return len(line), nil
	}
	if len(w.pending) == 0 {
		w.signal()
	}
	w.pending = append(w.pending, line...)
	return len(line), nil
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *writer) run() {
	defer close(w.done)
	var b chunk
	for open := true; open; {
		select {
		case <-w.wake:
			w.gather()
		case <-w.closing:
			open = false
		}
		b = w.take(b)
		w.write(&b)
	}
}

// gather lets more lines come, since one write of many lines costs little more
// than one of a single line.
func (w *writer) gather() {
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.closing:
	}
}

// A batch is what is written at a time.
type chunk struct {
	text      []byte
	lineBytes int   // bytes of the lines, before a notice
	dropped   int64 // when it was taken
	cut       bool  // the write before ended in the middle of a line
}

// take returns what waits, and reuses the memory of the batch before it.
func (w *writer) take(before chunk) chunk {
	w.mu.Lock()
	b := chunk{text: w.pending, lineBytes: len(w.pending), dropped: w.dropped, cut: before.cut}
	w.pending = before.text[:0]
	news := w.dropped - w.reported
	w.mu.Unlock()
	if news > 0 && b.lineBytes > 0 {
		b.text = append(b.text, w.notice(news)...)
	}
	return b
}

// write writes a batch; the lines that out did not take are dropped.
func (w *writer) write(b *chunk) {
	if b.lineBytes == 0 {
		return
	}
	if b.cut {
		_, _ = w.out.Write([]byte{'\n'})
	}
	n, err := w.out.Write(b.text)
	b.cut = n > 0 && b.text[n-1] != '\n'
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.dropped += int64(bytes.Count(b.text[min(n, b.lineBytes):b.lineBytes], []byte{'\n'}))
		return
	}
	w.reported = b.dropped
}

func (w *writer) droppedSoFar() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dropped
}

// close writes what waits, unless out does not take it in time.
func (w *writer) close() {
	w.mu.Lock()
	already := w.closed
	w.closed = true
	w.mu.Unlock()
	if !already {
		close(w.closing)
	}
	timer := time.NewTimer(closeLimit)
	defer timer.Stop()
	select {
	case <-w.done:
	case <-timer.C:
	}
}
