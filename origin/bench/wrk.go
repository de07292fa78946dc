package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// wrk runs wrk with a script, which has the request, so that no key is among the
// arguments that every user of the machine can read.
func (l *lab) wrk(ctx context.Context, path string, d load) (sent, error) {
	script, err := os.CreateTemp(l.dir, "load-*.lua")
	if err != nil {
		return sent{}, err
	}
	defer os.Remove(script.Name())
	_, err = script.WriteString(d.script())
	if err = errors.Join(err, script.Close()); err != nil {
		return sent{}, err
	}
	cmd := exec.CommandContext(ctx, path, "-t1", fmt.Sprintf("-c%d", d.connections),
		fmt.Sprintf("-d%ds", max(1, int(d.span.Seconds()))), "-s", script.Name(), d.url)
	dieWithParent(cmd)
	out, err := cmd.Output()
	if err != nil {
		return sent{}, explain(err)
	}
	return readWrk(string(out))
}

// script is the load as a script of wrk, which prints what was sent as one line. wrk's
// own text rounds. wrk counts only answers over 399 as errors; our server and the bare
// one send no other than these and 200.
func (d load) script() string {
	var b strings.Builder
	method := "GET"
	if d.body != "" {
		method = "POST"
	}
	fmt.Fprintf(&b, "wrk.method, wrk.body = %q, %q\n", method, d.body)
	b.WriteString("wrk.headers[\"Content-Type\"] = \"application/json\"\nkeys = {}\n")
	for n, key := range d.keys {
		fmt.Fprintf(&b, "keys[%d] = %q\n", n+1, key)
	}
	fmt.Fprintf(&b, "from = %d\n", d.from)
	b.WriteString(wrkScript)
	return b.String()
}

// wrkScript makes one request for each key before the load begins. Only bodies with
// numbers are made during the load, which costs wrk time.
const wrkScript = `
ready, calls = {}, 0
function init()
  for n = 1, math.max(1, #keys) do
    wrk.headers["X-API-Key"] = keys[n]
    ready[n] = wrk.format()
  end
end
function request()
  calls = calls + 1
  if from == 0 then return ready[calls % #ready + 1] end
  wrk.headers["X-API-Key"] = keys[calls % #ready + 1]
  return wrk.format(nil, nil, nil, (wrk.body:gsub("#", tostring(from + calls))))
end
function done(summary, latency)
  local e = summary.errors
  print(string.format("sent %d %d %d %d %d", summary.requests, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(99)))
end
`

// readWrk reads the line that wrkScript prints among the output of wrk.
func readWrk(out string) (sent, error) {
	const line = "sent"
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 6 || words[0] != line {
			continue
		}
		var numbers [5]int64
		for n := range numbers {
			var err error
			if numbers[n], err = strconv.ParseInt(words[n+1], 10, 64); err != nil {
				return sent{}, err
			}
		}
		return sent{numbers[0], micros(numbers[1]), numbers[2], micros(numbers[3]), micros(numbers[4])}, nil
	}
	return sent{}, errors.New("wrk did not print what it sent")
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
