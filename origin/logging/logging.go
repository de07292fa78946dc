// Package logging writes the service's log without delaying requests.
//
// The log may be a pipe whose reader stalls or exits. Lines are therefore stored
// in a bounded buffer, which one goroutine writes out; lines that do not fit are
// dropped and counted (writer.go). During an outage each refused request would
// log the same error, so each warning or error is logged at most once a second
// (suppress.go).
//
// Why not zerolog's diode or zap's BufferedWriteSyncer: the diode limits lines
// and not bytes, the syncer blocks while its reader stalls, and closing either
// blocks as well.
package logging

import (
	"bytes"
	"io"
	"log/slog"
)

// A Form is the format of log lines: JSON or text.
type Form string

// The formats.
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

// A Log is a slog.Logger that writes in the background.
type Log struct {
	*slog.Logger
	writer     *writer
	suppressor *suppressor
}

// Open returns a Log that writes to out. Without Close its last lines may be
// lost.
func Open(out io.Writer, form Form) *Log {
	l := &Log{writer: newWriter(out, dropNotice(form)), suppressor: newSuppressor()}
	l.Logger = slog.New(&handler{form.handler(l.writer), l.suppressor})
	return l
}

// Dropped returns the number of lines dropped so far.
func (l *Log) Dropped() int64 { return l.writer.droppedSoFar() }

// Close writes the buffered lines, for at most a second. Later lines are
// dropped.
func (l *Log) Close() {
	l.suppressor.flush()
	l.writer.close()
}

// dropNotice returns a function that formats the line that reports dropped lines.
func dropNotice(form Form) func(lines int64) []byte {
	var line bytes.Buffer
	log := slog.New(form.handler(&line))
	return func(lines int64) []byte {
		line.Reset()
		log.Warn("log lines were dropped: the log's reader was too slow or absent", "lines", lines)
		return line.Bytes()
	}
}
