package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// A report is what one run of the program measured. It is what -json writes.
type report struct {
	Date    time.Time `json:"date"`
	Machine machine   `json:"machine"`
	Rows    []figures `json:"rows"`
	Plots   []plot    `json:"plots,omitempty"`
}

func newReport(results []result, m machine) report {
	r := report{Date: time.Now().UTC().Truncate(time.Second), Machine: m}
	for n := range results {
		r.Rows = append(r.Rows, results[n].figures())
	}
	return r
}

func (r report) row(name string) (figures, bool) {
	for _, f := range r.Rows {
		if f.Name == name {
			return f, true
		}
	}
	return figures{}, false
}

func (r report) write(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// readBefore reads an earlier report; no path is none.
func readBefore(path string) (*report, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("-against: %w", err)
	}
	before := new(report)
	if err := json.Unmarshal(data, before); err != nil {
		return nil, fmt.Errorf("-against: %s is not what -json writes: %w", path, err)
	}
	if len(before.Rows) == 0 || before.Machine.Commit == "" {
		return nil, fmt.Errorf("-against: %s has no rows or no commit; it is not what -json writes now", path)
	}
	return before, nil
}
