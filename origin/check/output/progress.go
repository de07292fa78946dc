package output

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

const (
	redrawEvery = 100 * time.Millisecond
	maxBar      = 30 // columns
	maxLeft     = 99 * time.Hour
)

// clearLine goes to the start of the line and erases it (ECMA-48 section 8.3.41).
const clearLine = "\r\x1b[K"

// A Line is one line of a terminal that is drawn ten times a second.
type Line struct {
	to   io.Writer
	text func() string

	mu      sync.Mutex // for what follows
	drawn   bool
	stop    chan struct{}
	stopped sync.WaitGroup
}

// NewLine returns a line of a terminal with a text that may change.
func NewLine(to io.Writer, text func() string) *Line { return &Line{to: to, text: text} }

// Start begins to draw.
func (l *Line) Start() {
	l.stop = make(chan struct{})
	l.stopped.Go(func() {
		ticker := time.NewTicker(redrawEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				l.draw()
			case <-l.stop:
				return
			}
		}
	})
}

func (l *Line) draw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	io.WriteString(l.to, clearLine+l.text())
	l.drawn = true
}

// Stop erases the line and draws no more.
func (l *Line) Stop() {
	close(l.stop)
	l.stopped.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
}

// Write writes a message to the same terminal in place of the line, which is drawn
// again below it.
func (l *Line) Write(message []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	return l.to.Write(message)
}

func (l *Line) erase() {
	if l.drawn {
		io.WriteString(l.to, clearLine)
		l.drawn = false
	}
}

// Progress shows how far a run is on a line of a terminal.
//
// The run reads ahead, so the share of the input that was read is not the share
// that is done. The total is estimated from the records in the bytes that were
// read, and is exact once all are read.
type Progress struct {
	*Line
	started time.Time

	size int64 // of the input in bytes, 0 if unknown
	bytes,
	records, // that were read
	written atomic.Int64
}

// NewProgress returns the progress of a run whose input has size bytes, 0 if that is
// not known. It draws on to, a terminal whose width may change.
func NewProgress(to io.Writer, width func() int, size int64) *Progress {
	p := &Progress{size: size}
	// The last column stays free: some terminals wrap when it is written.
	p.Line = NewLine(to, func() string { return p.line(width()-1, time.Since(p.started)) })
	return p
}

// Start begins to draw.
func (p *Progress) Start() {
	p.started = time.Now()
	p.Line.Start()
}

// Reader counts what is read of an input as it is stored, compressed or not.
func (p *Progress) Reader(in io.Reader) io.Reader { return &countingReader{in, &p.bytes} }

type countingReader struct {
	io.Reader
	bytes *atomic.Int64
}

// Read reads and counts.
func (r *countingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.bytes.Add(int64(n))
	return n, err
}

// Input counts the records that are read.
func (p *Progress) Input(in pipeline.Input) pipeline.Input { return &countingInput{in, &p.records} }

type countingInput struct {
	pipeline.Input
	records *atomic.Int64
}

// Read reads and counts.
func (i *countingInput) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	before := len(dst)
	dst, err := i.Input.Read(dst)
	i.records.Add(int64(len(dst) - before))
	return dst, err
}

// Written takes the counts of the records that are done.
func (p *Progress) Written(c pipeline.Counts) { p.written.Store(c.Records) }

// line returns the line as it fits into width columns.
func (p *Progress) line(width int, elapsed time.Duration) string {
	done := p.written.Load()
	rate := float64(done) / max(elapsed.Seconds(), 0.001)
	text := fmt.Sprintf("%s done, %s per second", humanize.Comma(done), humanize.Comma(int64(rate)))
	total := p.total()
	if total > 0 {
		text += timeLeft(float64(total-done), rate)
		text = bar(float64(done)/float64(total), width-len(text)) + text
	}
	return text[:max(0, min(len(text), width))]
}

// total is how many records the input has, as far as is known, else 0.
func (p *Progress) total() int64 {
	read, bytes := p.records.Load(), p.bytes.Load()
	if p.size <= 0 || read == 0 || bytes == 0 {
		return 0
	}
	share := min(float64(bytes)/float64(p.size), 1)
	return max(int64(float64(read)/share), p.written.Load())
}

func timeLeft(records, rate float64) string {
	if rate == 0 {
		return ""
	}
	seconds := records / rate
	if seconds > maxLeft.Seconds() {
		return ", more than " + maxLeft.String() + " left"
	}
	return ", " + (time.Duration(seconds) * time.Second).String() + " left"
}

// bar draws a share in at most room columns, or nothing if it does not fit.
func bar(share float64, room int) string {
	percent := fmt.Sprintf("%3d %% ", int(100*share))
	cells := min(room-len(percent)-len("[] "), maxBar)
	if cells < 5 {
		if room < len(percent) {
			return ""
		}
		return percent
	}
	full := int(share * float64(cells))
	return percent + "[" + strings.Repeat("=", full) + strings.Repeat(" ", cells-full) + "] "
}
