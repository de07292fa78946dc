package logging

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	pendingLimit = 512 << 10             // bytes buffered; the chunk being written may have as many
	gatherTime   = 10 * time.Millisecond // lines of this time are written together
	closeLimit   = time.Second           // for the last lines
)

// A writer buffers lines for a goroutine that writes them to out. Write never
// waits for out: a line that does not fit is dropped and counted, and the count
// is written once out accepts lines again.
type writer struct {
	out    io.Writer
	notice func(dropped int64) []byte

	mu       sync.Mutex
	pending  []byte // whole lines
	dropped  int64
	reported int64 // of dropped, in notices already written
	closed   bool

	wake    chan struct{} // receives once pending has lines
	closing chan struct{}
	done    chan struct{}
}

func newWriter(out io.Writer, notice func(int64) []byte) *writer {
	w := &writer{out: out, notice: notice,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

// Write adds one line to the buffer.
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
	var c chunk
	for open := true; open; {
		select {
		case <-w.wake:
			w.gather()
		case <-w.closing:
			open = false
		}
		c = w.take(c)
		w.write(&c)
	}
}

// gather waits for more lines, since writing many lines at once costs little more
// than writing one.
func (w *writer) gather() {
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.closing:
	}
}

// A chunk is the text of one write.
type chunk struct {
	text      []byte
	lineBytes int   // bytes of the lines; a notice may follow
	dropped   int64 // writer.dropped when the chunk was taken
	cut       bool  // the previous write ended in the middle of a line
}

// take returns the buffered lines as a chunk. The previous chunk's memory becomes
// the buffer.
func (w *writer) take(previous chunk) chunk {
	w.mu.Lock()
	c := chunk{text: w.pending, lineBytes: len(w.pending), dropped: w.dropped, cut: previous.cut}
	w.pending = previous.text[:0]
	unreported := w.dropped - w.reported
	w.mu.Unlock()
	if unreported > 0 && c.lineBytes > 0 {
		c.text = append(c.text, w.notice(unreported)...)
	}
	return c
}

// write writes a chunk. Lines that out did not accept are dropped.
func (w *writer) write(c *chunk) {
	if c.lineBytes == 0 {
		return
	}
	if c.cut {
		_, _ = w.out.Write([]byte{'\n'})
	}
	n, err := w.out.Write(c.text)
	c.cut = n > 0 && c.text[n-1] != '\n'
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.dropped += int64(bytes.Count(c.text[min(n, c.lineBytes):c.lineBytes], []byte{'\n'}))
		return
	}
	w.reported = c.dropped
}

func (w *writer) droppedSoFar() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dropped
}

// close writes the buffered lines, for at most closeLimit.
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
