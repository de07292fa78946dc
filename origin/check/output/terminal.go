package output

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// Colored reports whether to color what is written to out: auto (on a terminal, unless NO_COLOR is not empty
// (no-color.org) or TERM is dumb), always or never.
func Colored(mode string, out io.Writer) bool {
	if mode != "auto" {
		return mode == "always"
	}
	return IsTerminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// TerminalWidth returns the number of columns of a terminal, or 0 if out is none.
func TerminalWidth(out io.Writer) int {
	width := 0
	if IsTerminal(out) {
		width, _, _ = term.GetSize(int(out.(interface{ Fd() uintptr }).Fd())) // 0 on an error
	}
	return width
}

// Printable replaces characters that could control a terminal or break a line: control characters such as
// ESC, and invisible ones that change the direction of writing.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

const (
	redrawEvery = 100 * time.Millisecond
	maxBar      = 30           // columns
	maxLeft     = 99 * 60 * 60 // seconds; longer estimates are not shown
	clearLine   = "\r\x1b[K"   // goes to the line's start and erases it (ECMA-48 section 8.3.41)
)

// A Line is one line of a terminal that is drawn ten times a second.
type Line struct {
	To   io.Writer
	Text func() string // which may change

	mu    sync.Mutex
	timer *time.Timer // nil unless the line is being drawn
}

// Start begins to draw.
func (l *Line) Start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(redrawEvery, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.timer != nil {
			io.WriteString(l.To, clearLine+l.Text())
			l.timer.Reset(redrawEvery)
		}
	})
}

// Stop erases the line and draws no more.
func (l *Line) Stop() {
	l.mu.Lock()
	l.timer.Stop()
	l.timer = nil
	l.mu.Unlock()
	l.Write(nil)
}

// Write writes a message to the same terminal in place of the line, which is drawn again below it.
func (l *Line) Write(message []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	io.WriteString(l.To, clearLine)
	return l.To.Write(message)
}

// Progress shows how far a run is. The run reads ahead, so the share of the input that was read is not the share
// that is done: the total is estimated from the records in the bytes that were read, and exact once all are.
type Progress struct {
	*Line

	size           int64 // of the input in bytes, 0 if unknown
	records        *atomic.Int64
	bytes, written atomic.Int64 // as records, bytes are those that were read
}

// NewProgress returns the progress of a run that begins, counts the records that it read, and whose
// input has size bytes, 0 if that is not known. It draws on to, a terminal whose width may change.
func NewProgress(to io.Writer, width func() int, size int64, records *atomic.Int64) *Progress {
	p, began := &Progress{size: size, records: records}, time.Now()
	// The last column stays free: some terminals wrap when it is written.
	p.Line = &Line{To: to, Text: func() string { return p.line(width()-1, time.Since(began)) }}
	return p
}

// Reader counts what is read of an input as it is stored, compressed or not.
func (p *Progress) Reader(in io.Reader) io.Reader { return io.TeeReader(in, counter{&p.bytes}) }

type counter struct{ *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.Add(int64(len(b)))
	return len(b), nil
}

// Written takes the counts of the records that are done.
func (p *Progress) Written(c pipeline.Counts) { p.written.Store(c.Records) }

func (p *Progress) line(width int, elapsed time.Duration) string {
	done, records, bytes := p.written.Load(), p.records.Load(), p.bytes.Load()
	rate := float64(done) / max(elapsed.Seconds(), 0.001)
	text := fmt.Sprintf("%s done, %s per second", humanize.Comma(done), humanize.Comma(int64(rate)))
	if p.size > 0 && records > 0 && bytes > 0 {
		total := int64(float64(records) / min(float64(bytes)/float64(p.size), 1))
		share := float64(done) / float64(max(total, done))
		left := float64(max(total-done, 0)) / rate // infinite or no number at the begin
		if left < maxLeft {
			text += ", " + (time.Duration(left) * time.Second).String() + " left"
		}
		percent := fmt.Sprintf("%3d %% ", int(100*share))
		room := width - len(text) - len(percent)
		if cells := min(room-len("[] "), maxBar); cells >= 5 {
			percent += fmt.Sprintf("[%-*s] ", cells, strings.Repeat("=", int(share*float64(cells))))
		}
		if room >= 0 {
			text = percent + text
		}
	}
	return text[:max(0, min(len(text), width))]
}
