package main

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// script is the load as a script of wrk, which prints what was sent as one line. wrk's
// own text rounds, and counts only answers over 399 as errors.
func (d load) script() string {
	method := "GET"
	if d.body != "" {
		method = "POST"
	}
	return fmt.Sprintf(`wrk.method = %q
wrk.headers["X-API-Key"] = %q
wrk.headers["Content-Type"] = "application/json"
wrk.body = %q
function done(summary)
  local e = summary.errors
  print(string.format("sent %%d %%d %%d", summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout))
end
`, method, d.key, d.body)
}

// readWrk returns the requests a second from the output of wrk.
func readWrk(out string) (float64, error) {
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 4 || words[0] != "sent" {
			continue
		}
		var numbers [3]int64
		for n := range numbers {
			var err error
			if numbers[n], err = strconv.ParseInt(words[n+1], 10, 64); err != nil {
				return 0, err
			}
		}
		return sent{numbers[0], time.Duration(numbers[1]) * time.Microsecond, numbers[2]}.rate()
	}
	return 0, errors.New("wrk did not print what it sent")
}

// sent is what a load has sent.
type sent struct {
	Requests int64         `json:"requests"`
	Took     time.Duration `json:"took"`
	Errors   int64         `json:"errors"` // among them
}

func (s sent) rate() (float64, error) {
	switch {
	case s.Errors > 0:
		return 0, fmt.Errorf("%d of %d requests failed", s.Errors, s.Requests)
	case s.Requests <= 0 || s.Took <= 0:
		return 0, errors.New("no request was answered")
	}
	return float64(s.Requests) / s.Took.Seconds(), nil
}
