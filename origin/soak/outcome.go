package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// An outcome is what became of a request.
type outcome struct {
	kind   outcomeKind
	begun  time.Time // before the connection was made
	status int
	header http.Header
	body   []byte
	took   time.Duration
	err    error // of a cut connection
}

type outcomeKind int

const (
	answered outcomeKind = iota
	refused              // not sent, since no connection was accepted
	cut                  // sent, but the response is missing or incomplete: it may be charged
	hungUp               // the client hung up before the response: it may be charged
)

// points returns the cost that the response reports. It returns an error if the
// response differs from the contract.
func (o *outcome) points(r request) (points int64, err error) {
	if o.header.Get("Content-Type") != "application/json" || o.header.Get("X-Request-Id") == "" {
		return 0, fmt.Errorf("a response of %d lacks its headers: %v", o.status, o.header)
	}
	switch {
	case o.status == http.StatusOK && r.batch:
		return o.batchPoints(r)
	case o.status == http.StatusOK:
		return 1, o.checkFields("email", "valid", "mx")
	case o.status >= 500:
		return 0, o.checkShapeA()
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

// checkShapeA checks a problem against section 7 of the specification.
func (o *outcome) checkShapeA() error {
	var e struct {
		Status      int
		Error, Code string
	}
	if err := json.Unmarshal(o.body, &e); err != nil || e.Status != o.status || e.Error == "" || e.Code == "" {
		return fmt.Errorf("a response of %d is not in shape A: %s", o.status, o.body)
	}
	if o.status == http.StatusServiceUnavailable && (e.Code != "REQUEST_CANCELLED" || o.header.Get("Retry-After") == "") {
		return fmt.Errorf("a 503 has the code %s and Retry-After %q", e.Code, o.header.Get("Retry-After"))
	}
	return nil
}

func (o *outcome) checkFields(names ...string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(o.body, &fields); err != nil {
		return err
	}
	for _, name := range names {
		if fields[name] == nil {
			return fmt.Errorf("a response of %d lacks %s", o.status, name)
		}
	}
	return nil
}

// usedUp reports whether the month's points are used up. A 429 with Retry-After
// means only that requests under way have claimed the rest.
func (o *outcome) usedUp() bool { return o.status == 429 && o.header.Get("Retry-After") == "" }

// claimed reports whether points may become available again soon.
func (o *outcome) claimed() bool { return o.status == 429 && !o.usedUp() }
