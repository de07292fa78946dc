package output

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
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

// Progress is how far a run is.
type Progress struct {
	Done, Read  int64 // records that were written and read
	Bytes, Size int64 // of the input: those that were read, and all, 0 if that is not known
	Elapsed     time.Duration
}

// Text returns the progress as it fits into width columns. The run reads ahead, so the share of the input that was
// read is not the share that is done: the total is estimated from the records in the bytes that were read, and exact
// once all are.
func (p Progress) Text(width int) string {
	rate := float64(p.Done) / max(p.Elapsed.Seconds(), 0.001)
	text := fmt.Sprintf("%s done, %s per second", humanize.Comma(p.Done), humanize.Comma(int64(rate)))
	if p.Size > 0 && p.Read > 0 && p.Bytes > 0 {
		total := int64(float64(p.Read) / min(float64(p.Bytes)/float64(p.Size), 1))
		share := float64(p.Done) / float64(max(total, p.Done))
		left := float64(max(total-p.Done, 0)) / rate // infinite or no number at the begin
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
