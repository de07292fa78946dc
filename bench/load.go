package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A load is the same request on some connections, each of which sends the next once it
// has the answer.
type load struct {
	url, key    string
	body        string // POST if not empty, else GET
	connections int
	span        time.Duration
}

// rate returns the requests a second that the load's process counted. A load with an
// answer other than 200 is an error, since such answers may be faster.
func (l *lab) rate(ctx context.Context, d load) (float64, error) {
	d.span = l.span
	if path, err := exec.LookPath("wrk"); err == nil {
		return l.wrk(ctx, path, d)
	}
	return d.own(ctx)
}

// wrk runs wrk with a script, which has the request, so that no key is among the
// arguments that every user of the machine can read.
func (l *lab) wrk(ctx context.Context, path string, d load) (float64, error) {
	script := filepath.Join(l.dir, "load.lua")
	if err := os.WriteFile(script, []byte(d.script()), 0o600); err != nil {
		return 0, err
	}
	defer os.Remove(script)
	out, err := exec.CommandContext(ctx, path, "-t1", fmt.Sprintf("-c%d", d.connections),
		fmt.Sprintf("-d%ds", max(1, int(d.span.Seconds()))), "-s", script, d.url).Output()
	if err != nil {
		return 0, explain(err)
	}
	return readWrk(string(out))
}

// own runs this program as the process that sends the load.
func (d load) own(ctx context.Context) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, "role-load", d.url, fmt.Sprint(d.connections), d.span.String())
	cmd.Env = append(os.Environ(), "BENCH_KEY="+d.key, "BENCH_BODY="+d.body)
	out, err := cmd.Output()
	if err != nil {
		return 0, explain(err)
	}
	var s sent
	if err := json.Unmarshal(out, &s); err != nil {
		return 0, err
	}
	return s.rate()
}
