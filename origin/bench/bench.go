package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// bench measures the rows that o selects, and prints and writes the report.
func bench(ctx context.Context, o options, out io.Writer, to progress) error {
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
	r, err := measure(ctx, selected, o, to)
	if err != nil {
		return err
	}
	return finish(r, before, o, out)
}

// measure measures the selected rows, and the plots if they are wanted. It reports
// nothing if ctx ends, since rows lack runs.
func measure(ctx context.Context, selected []row, o options, to progress) (r report, err error) {
	l, err := newLab(ctx, o)
	if err != nil {
		return r, err
	}
	defer l.close()
	machine := newMachine(l.dir)
	results := measureAll(ctx, l, selected, o, to)
	var plots []plot
	if o.plots != "" {
		plots = measurePlots(ctx, l, to)
	}
	if ctx.Err() != nil {
		return r, errors.New("interrupted: nothing is reported, since rows lack runs")
	}
	machine.LoadAfter = loadAverage()
	r = newReport(results, machine)
	r.Plots = plots
	return r, nil
}

func selectRows(o options) (selected []row) {
	for _, r := range rows() {
		if o.only.MatchString(r.name) {
			selected = append(selected, r)
		}
	}
	return selected
}

// measureAll measures each row once a run. A row that fails is not measured again.
func measureAll(ctx context.Context, l *lab, selected []row, o options, to progress) []result {
	results := make([]result, len(selected))
	for n, r := range selected {
		results[n].row = r
	}
	begun := time.Now()
	for run := range o.runs {
		if ctx.Err() != nil {
			break
		}
		to.note("run %d of %d, after %s", run+1, o.runs, time.Since(begun).Round(time.Second))
		for n := range results {
			if results[n].err != nil || ctx.Err() != nil {
				continue
			}
			to.show("run %d of %d, %s: %s", run+1, o.runs, time.Since(begun).Round(time.Second), results[n].name)
			results[n].add(results[n].measure(ctx, l))
		}
	}
	to.show("")
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
	if o.plots != "" {
		return writePlots(o.plots, r.Plots)
	}
	return nil
}
