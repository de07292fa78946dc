package check

import (
	"bufio"
	"context"
)

// outputBuffer is the size of the buffer before the output, in bytes.
const outputBuffer = 64 << 10

// A writer writes the chunks of a run in order.
type writer struct {
	*pipeline
	out     *bufio.Writer
	written Counts // in the buffer or flushed
	flushed Counts
}

func newWriter(p *pipeline) *writer {
	return &writer{pipeline: p, out: bufio.NewWriterSize(p.Output, outputBuffer)}
}

// write writes chunks until there are no more. What it has written by then is
// flushed, also if it returns an error.
func (w *writer) write(ctx context.Context) error {
	for {
		c, err := w.next(ctx)
		if c == nil {
			return w.end(err)
		}
		if err := w.append(c.encoded); err != nil {
			return err
		}
		w.count(c)
		if c.err != nil {
			return w.end(c.err)
		}
		w.release(c)
	}
}

// end flushes, and returns the error that came first.
func (w *writer) end(err error) error {
	if failed := w.flush(); err == nil {
		return failed
	}
	return err
}

// append writes to the buffer. A chunk is flushed as a whole, so that after an
// error flushed is exactly what was written before it.
func (w *writer) append(encoded []byte) error {
	if len(encoded) > w.out.Available() {
		if err := w.flush(); err != nil {
			return err
		}
	}
	_, err := w.out.Write(encoded)
	return err
}

// next returns the next chunk once it is finished, or nil at the end. Before it
// waits, it flushes.
func (w *writer) next(ctx context.Context) (*chunk, error) {
	c, more := (*chunk)(nil), true
	select {
	case c, more = <-w.order:
	default:
		if err := w.flush(); err != nil {
			return nil, err
		}
		select {
		case c, more = <-w.order:
		case <-ctx.Done():
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !more:
		return nil, w.readErr
	}
	return w.finished(ctx, c)
}

func (w *writer) finished(ctx context.Context, c *chunk) (*chunk, error) {
	select {
	case <-c.done:
		return c, nil
	default:
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	select {
	case <-c.done:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// flush flushes the output and reports what was written.
func (w *writer) flush() error {
	if w.written == w.flushed && w.out.Buffered() == 0 {
		return nil
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	w.flushed = w.written
	if w.Written != nil {
		w.Written(w.flushed)
	}
	return nil
}

// count counts the records of c that are encoded.
func (w *writer) count(c *chunk) {
	for n := range c.ready {
		w.written.add(&c.records[n], &c.outcomes[n])
		if c.records[n].Err != nil && w.Bad != nil {
			w.Bad(&c.records[n])
		}
	}
}
