package main

import (
	"fmt"
	"io"
	"os"
)

// A progress says on standard error what is measured now.
type progress struct {
	out      io.Writer
	terminal bool // else only notes are written, which a log can keep
}

func newProgress(file *os.File) progress {
	info, err := file.Stat()
	return progress{file, err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// clearLine goes to the beginning of a terminal's line and clears it.
const clearLine = "\r\x1b[K"

// show replaces the line by another.
func (p progress) show(format string, args ...any) {
	if p.terminal {
		fmt.Fprintf(p.out, clearLine+format, args...)
	}
}

// note writes a line that remains.
func (p progress) note(format string, args ...any) {
	p.show("")
	fmt.Fprintf(p.out, format+"\n", args...)
}
