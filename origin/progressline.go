package main

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/lists/feed/prompt"
)

// A progressLine shows how far a copy of the ledger is, on a terminal only.
type progressLine struct {
	out   io.Writer // nil: not a terminal
	what  string
	next  time.Time
	bytes uint64
}

// progressEvery is how often the line changes.
const progressEvery = 200 * time.Millisecond

func newProgressLine(out io.Writer, what string) *progressLine {
	if !prompt.IsTerminal(out) {
		out = nil
	}
	return &progressLine{out: out, what: what, next: time.Now().Add(progressEvery)}
}

// show replaces the line. "\x1b[K" clears the rest of it (ECMA-48, EL).
func (p *progressLine) show(format string, args ...any) {
	if p.out == nil || time.Now().Before(p.next) {
		return
	}
	p.next = time.Now().Add(progressEvery)
	fmt.Fprintf(p.out, "\r%s: %s\x1b[K", p.what, fmt.Sprintf(format, args...))
}

func (p *progressLine) clear() {
	if p.out != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// pages shows how many of an SQLite file's pages are copied. The check that follows
// has no steps to show.
func (p *progressLine) pages(done, all int) {
	if done == all {
		p.next = time.Time{}
		p.show("checking the copy")
		return
	}
	p.show("%d %%", done*100/max(all, 1))
}

// counting returns a writer that shows how many bytes went to w.
func (p *progressLine) counting(w io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		p.count(len(b))
		return w.Write(b)
	})
}

// countingReads returns a reader that shows how many bytes came from r.
func (p *progressLine) countingReads(r io.Reader) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		n, err := r.Read(b)
		p.count(n)
		return n, err
	})
}

func (p *progressLine) count(n int) {
	p.bytes += uint64(n)
	p.show("%s", humanize.Bytes(p.bytes))
}

type (
	writerFunc func([]byte) (int, error)
	readerFunc func([]byte) (int, error)
)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
func (f readerFunc) Read(b []byte) (int, error)  { return f(b) }
