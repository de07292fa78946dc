package webhook

import (
	"encoding/json"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// thresholds are the percentages of an account's limit that are reported.
var thresholds = []int64{80, 100}

// A message is the body that a receiver gets. It contains no email address and no
// key.
type message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // when the threshold was noticed
	Data      usage     `json:"data"`
}

// usage is the points of an account.
type usage struct {
	Account int64     `json:"account"`
	Percent int64     `json:"percent"` // 80 or 100; 0 in a test
	Used    int64     `json:"used"`
	Limit   *int64    `json:"limit"` // null is unlimited, which only a test reports
	Month   string    `json:"month"` // such as 2026-11
	Refill  time.Time `json:"refill"`
}

// newMessage returns the body of a message about an account's points in the month
// of now.
func newMessage(now time.Time, account, percent, used, limit int64) string {
	now = now.UTC()
	data := usage{Account: account, Percent: percent, Used: used, Month: now.Format("2006-01")}
	data.Refill = time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	if limit != int64(ledger.Unlimited) {
		data.Limit = &limit
	}
	body, err := json.Marshal(message{"usage.threshold", now.Truncate(time.Millisecond), data})
	if err != nil {
		panic(err) // numbers and times: cannot fail
	}
	return string(body)
}

// monthOf returns the number of the month as the ledger counts it: from January of
// year 0.
func monthOf(t time.Time) int64 {
	t = t.UTC()
	return int64(t.Year())*12 + int64(t.Month()) - 1
}

// reached reports whether used is at least percent of limit. The limit less a part
// rounds up and cannot overflow; the query list_thresholds does the same.
func reached(used, limit, percent int64) bool {
	if percent == 100 {
		return used >= limit
	}
	return used >= limit-limit/5
}
