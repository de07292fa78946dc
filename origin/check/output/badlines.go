package output

import (
	"fmt"
	"io"
	"strconv"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/escape"
)

// maxBadLines is how many bad records are reported one by one, so that a million of
// them do not flood a terminal or a log.
const maxBadLines = 20

// BadLines reports records that could not be read, one a line.
type BadLines struct {
	To   io.Writer
	Name string // of the input, if its records do not have one

	count int64
}

// Report reports one record.
func (b *BadLines) Report(r *check.Record) {
	if b.count++; b.count <= maxBadLines {
		fmt.Fprintln(b.To, escape.Printable(b.where(r)+": "+r.Err.Error()))
	}
}

func (b *BadLines) where(r *check.Record) string {
	name := b.Name
	if r.File != "" {
		name = r.File
	}
	if r.Line > 0 {
		name += " line " + strconv.FormatInt(r.Line, 10)
	}
	return name
}

// Close says how many more there were.
func (b *BadLines) Close() {
	if more := b.count - maxBadLines; more > 0 {
		fmt.Fprintf(b.To, "and %s that could not be read\n", quantity(more, "more record", "more records"))
	}
}
