package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// An outcome is the result of sending a request.
type outcome struct {
	fate   fate
	begun  time.Time // before the connection was made
	status int
	header http.Header
	body   []byte
	took   time.Duration
	err    error // of a cut
}

type fate int

const (
	answered fate = iota
	refused       // no connection: the server never saw the request
	cut           // sent, and the answer is missing or incomplete: it may be charged
	left          // the client hung up before the answer: it may be charged
)

// points is the cost that the answer reports. The error says where the answer
// differs from the contract.
func (o *outcome) points(r request) (points int64, err error) {
	if o.header.Get("Content-Type") != "application/json" || o.header.Get("X-Request-Id") == "" {
		return 0, fmt.Errorf("an answer of %d lacks its headers: %v", o.status, o.header)
	}
	switch {
	case o.status == http.StatusOK && r.batch:
		return o.batchPoints(r)
	case o.status == http.StatusOK:
		return 1, o.expectFields("email", "valid", "mx")
	case o.status >= 500:
		return 0, o.expectShapeA()
	}
	return 0, nil
}

func (o *outcome) batchPoints(r request) (int64, error) {
	var e struct {
		Partial bool
		Total   int64
		Points  int64 `json:"usage_points"`
		Results []json.RawMessage
	}
	if err := json.Unmarshal(o.body, &e); err != nil {
		return 0, err
	}
	if e.Points != e.Total || int(e.Total) != len(e.Results) || !e.Partial && e.Points != r.cost() {
		return 0, fmt.Errorf("a batch of %d costs %d points and has %d results", r.cost(), e.Points, len(e.Results))
	}
	return e.Points, nil
}

// expectShapeA checks a problem against section 7 of the specification.
func (o *outcome) expectShapeA() error {
	var e struct {
		Status      int
		Error, Code string
	}
	if err := json.Unmarshal(o.body, &e); err != nil || e.Status != o.status || e.Error == "" || e.Code == "" {
		return fmt.Errorf("an answer of %d is not in shape A: %s", o.status, o.body)
	}
	if o.status == http.StatusServiceUnavailable && (e.Code != "REQUEST_CANCELLED" || o.header.Get("Retry-After") == "") {
		return fmt.Errorf("a 503 has the code %s and Retry-After %q", e.Code, o.header.Get("Retry-After"))
	}
	return nil
}

func (o *outcome) expectFields(names ...string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(o.body, &fields); err != nil {
		return err
	}
	for _, name := range names {
		if fields[name] == nil {
			return fmt.Errorf("an answer of %d lacks %s", o.status, name)
		}
	}
	return nil
}

// usedUp says that the month's points are used up. A 429 with Retry-After says
// only that requests under way hold the rest of them.
func (o *outcome) usedUp() bool { return o.status == 429 && o.header.Get("Retry-After") == "" }

// held says that the points may be free again soon.
func (o *outcome) held() bool { return o.status == 429 && !o.usedUp() }
