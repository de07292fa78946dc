package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// A report is what one run of the program measured. It is what -json writes.
type report struct {
	Date      time.Time `json:"date"`
	Commit    string    `json:"commit"` // with "+" if files differ from it
	Go        string    `json:"go"`
	System    string    `json:"system"`
	Processor string    `json:"processor"`
	Cores     int       `json:"cores"`
	Load      string    `json:"load"` // average of 1, 5 and 15 minutes, at the end
	Rows      []figures `json:"rows"`
}

// figures are the measurements of one row.
type figures struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Peer   string  `json:"peer"`
	Target string  `json:"target,omitempty"`
	Ours   float64 `json:"ours"` // median, as are the two below
	Limit  float64 `json:"peer_figure"`
	Ratio  float64 `json:"ratio"`
	Lowest float64 `json:"ratio_lowest"` // of all runs
	Most   float64 `json:"ratio_highest"`
	Met    bool    `json:"met"`
	Pairs  []pair  `json:"runs"`
	Error  string  `json:"error,omitempty"`
}

func newReport(results []result) report {
	r := report{Date: time.Now().UTC().Truncate(time.Second), Commit: commit(), Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH, Processor: processor(), Cores: runtime.NumCPU(), Load: loadAverage()}
	for n := range results {
		r.Rows = append(r.Rows, results[n].figures())
	}
	return r
}

func (r *result) figures() figures {
	f := figures{Name: r.name, Unit: r.unit, Peer: r.peer, Target: r.target.String(), Pairs: r.pairs}
	if r.err != nil {
		f.Error = r.err.Error()
		return f
	}
	f.Ours = r.median(func(p pair) float64 { return p.Ours })
	f.Limit = r.median(func(p pair) float64 { return p.Peer })
	f.Ratio = r.median(pair.ratio)
	f.Lowest, f.Most = bounds(r.each(pair.ratio))
	f.Met = r.target.met(f.Ratio)
	return f
}

func bounds(list []float64) (lowest, highest float64) {
	lowest, highest = list[0], list[0]
	for _, x := range list {
		lowest, highest = min(lowest, x), max(highest, x)
	}
	return lowest, highest
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
	return before, nil
}

func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(out))
	if changed, _ := exec.Command("git", "status", "--porcelain", "-uno").Output(); len(changed) > 0 {
		name += "+"
	}
	return name
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	return strings.Join(strings.Fields(string(text))[:min(3, len(strings.Fields(string(text))))], " ")
}
