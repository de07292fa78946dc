package main

import (
	"io"
	"time"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/output"
)

// A checkReport is what a run prints on standard error: progress, lines that cannot
// be read, and the summary.
type checkReport struct {
	flags    *checkOutputFlags
	out      *checkOutput
	to       io.Writer
	progress *output.Progress // nil without a terminal
	lines    *output.BadLines
	few      bool // addresses in the command line
	began    time.Time
}

// newReport returns the report of a run. There is no progress beside a table on the
// same terminal, where the rows are the progress.
func (c *checkCmd) newReport(in *checkInput, out *checkOutput, std streams) *checkReport {
	r := &checkReport{flags: &c.checkOutputFlags, out: out, to: std.err, few: in.onlyAddresses()}
	if output.IsTerminal(std.err) && !c.Quiet && !out.terminal {
		r.progress = output.NewProgress(std.err, func() int { return output.TerminalWidth(std.err) }, in.size())
		in.wrap, r.to = r.progress.Reader, r.progress
	}
	r.lines = &output.BadLines{To: r.to, Name: stdinName}
	if len(in.targets) == 1 && in.targets[0].path != "-" {
		r.lines.Name = in.targets[0].path
	}
	return r
}

// counted returns the input with its records counted for the progress.
func (r *checkReport) counted(in check.Input) check.Input {
	if r.progress == nil {
		return in
	}
	return r.progress.Input(in)
}

func (r *checkReport) start() {
	r.began = time.Now()
	if r.progress != nil {
		r.progress.Start()
	}
}

func (r *checkReport) bad(record *check.Record) { r.lines.Report(record) }

func (r *checkReport) written(counts check.Counts) {
	r.out.flushed()
	if r.progress != nil {
		r.progress.Written(counts)
	}
}

// end prints the summary. Addresses in the command line need none.
func (r *checkReport) end(counts check.Counts, lookedUp bool) {
	if r.progress != nil {
		r.progress.Stop()
	}
	r.lines.Close()
	s := output.Summary{Counts: counts, Elapsed: time.Since(r.began), LookedUp: lookedUp}
	switch {
	case r.flags.Quiet || r.flags.Summary == "none":
	case r.flags.Summary == "json":
		_ = s.WriteJSON(r.to)
	case !r.few:
		_ = s.WriteText(r.to)
	}
}
