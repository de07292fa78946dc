// Package logging writes the service's log without ever delaying a request.
//
// A log is a pipe whose reader may stall, or end. So lines wait in a bounded
// buffer (writer.go), from which one goroutine writes them; what does not fit is
// dropped and counted. During an outage each refused request would log the same
// error, so a warning or an error is logged at most once a second (repeat.go).
//
// zerolog's diode and zap's BufferedWriteSyncer come close; but the first bounds
// lines and not bytes, the second waits for its reader, and both do at the end.
package logging

import (
	"bytes"
	"io"
	"log/slog"
)

// A Form is how a line is written.
type Form string

// The forms of a log.
const (
	JSON Form = "json"
	Text Form = "text"
)

func (f Form) handler(out io.Writer) slog.Handler {
	if f == Text {
		return slog.NewTextHandler(out, nil)
	}
	return slog.NewJSONHandler(out, nil)
}

// A Log is a logger whose lines are written in the background.
type Log struct {
	*slog.Logger
	writer     *writer
	suppressor *suppressor
}

// Open returns a log on out. It must be closed, or its last lines may be lost.
func Open(out io.Writer, form Form) *Log {
	l := &Log{writer: newWriter(out, dropNotice(form)), suppressor: newSuppressor()}
	l.Logger = slog.New(&handler{form.handler(l.writer), l.suppressor})
	return l
}

// Dropped is the number of lines that were dropped so far.
func (l *Log) Dropped() int64 { return l.writer.droppedSoFar() }

// Close writes what waits, for at most a second. Later lines are dropped.
func (l *Log) Close() {
	l.suppressor.flush()
	l.writer.close()
}

// dropNotice returns the line that reports dropped ones.
func dropNotice(form Form) func(lines int64) []byte {
	var line bytes.Buffer
	log := slog.New(form.handler(&line))
	return func(lines int64) []byte {
		line.Reset()
		log.Warn("log lines were dropped: the log's reader was too slow or absent", "lines", lines)
		return line.Bytes()
	}
}
