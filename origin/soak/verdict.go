package main

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// A verdict is the result of a trial on one database.
type verdict struct {
	*session
	took time.Duration
	err  error // why the trial ended early
}

func (v *verdict) failed() bool {
	return len(v.failures) > 0 || v.err != nil && !errors.Is(v.err, errSkipped)
}

func (v *verdict) print(out io.Writer) {
	word := "ok"
	if v.failed() {
		word = "FAILED"
	} else if v.err != nil {
		word = "skipped"
	}
	fmt.Fprintf(out, "%-8s%-14s%-10s%5.1f s  %s\n", word, v.trial.name, v.kind, v.took.Seconds(), v.trial.condition)
	for _, figure := range v.figures {
		fmt.Fprintf(out, "%40s%s\n", "", figure)
	}
	for _, failure := range v.failures {
		fmt.Fprintf(out, "%40sFAILED: %s\n", "", failure)
	}
	if v.err != nil {
		fmt.Fprintf(out, "%40s%s: %v\n", "", word, v.err)
	}
}
