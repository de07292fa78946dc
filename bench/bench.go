package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// bench measures the rows that o selects, and prints and writes the report.
func bench(ctx context.Context, o options, out, progress io.Writer) error {
	selected := selectRows(o)
	if len(selected) == 0 {
		return errors.New("-only matches no row; -list prints their names")
	}
	if o.list {
		for _, r := range selected {
			fmt.Fprintln(out, r.name)
		}
		return nil
	}
	before, err := readBefore(o.against)
	if err != nil {
		return err
	}
	l, err := newLab(ctx, o)
	if err != nil {
		return err
	}
	defer l.close()
	machine := newMachine(l.dir)
	results := measureAll(ctx, l, selected, o, progress)
	machine.LoadAfter = loadAverage()
	if ctx.Err() != nil {
		return errors.New("interrupted: nothing is reported, since rows lack runs")
	}
	return finish(newReport(results, machine), before, o, out)
}

func selectRows(o options) (selected []row) {
	for _, r := range rows() {
		if o.only.MatchString(r.name) {
			selected = append(selected, r)
		}
	}
	return selected
}

// clearLine goes to the beginning of a terminal's line and clears it.
const clearLine = "\r\x1b[K"

// measureAll measures each row once a run. A row that fails is not measured again.
func measureAll(ctx context.Context, l *lab, selected []row, o options, progress io.Writer) []result {
	results := make([]result, len(selected))
	for n, r := range selected {
		results[n].row = r
	}
	begun := time.Now()
	for run := range o.runs {
		for n := range results {
			if results[n].err != nil || ctx.Err() != nil {
				continue
			}
			fmt.Fprintf(progress, clearLine+"run %d of %d, %s: %s", run+1, o.runs, time.Since(begun).Round(time.Second), results[n].name)
			results[n].add(results[n].measure(ctx, l))
		}
	}
	fmt.Fprint(progress, clearLine)
	return results
}

// finish prints the table and writes the files that o names.
func finish(r report, before *report, o options, out io.Writer) error {
	r.print(out)
	if before != nil {
		r.printChanges(out, *before)
	}
	if o.json != "" {
		if err := r.write(o.json); err != nil {
			return err
		}
	}
	return nil
}
