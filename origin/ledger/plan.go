package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A Plan is what an account may use.
type Plan struct {
	Name    string `json:"name"`
	Rate    Limit  `json:"rate"`    // requests a second, also the bucket's capacity
	Points  Limit  `json:"points"`  // points a calendar month
	Overage bool   `json:"overage"` // whether points beyond the limit may be used
}

// Bounds of what a plan may say. A rate above a million has no meaning: the
// bucket counts in nanoseconds.
const (
	maxRate   = 1_000_000
	maxPoints = 1_000_000_000_000
	maxPlans  = 1000
	maxName   = 64
)

// DefaultPlan is the plan of an account that names none.
const DefaultPlan = "free"

// DefaultPlans are the plans that a new database begins with.
func DefaultPlans() []Plan {
	return []Plan{
		{Name: DefaultPlan, Rate: 1, Points: 1000},
		{Name: "pro", Rate: 5, Points: 200_000, Overage: true},
		{Name: "enterprise", Rate: Unlimited, Points: Unlimited},
	}
}

// ParsePlans reads plans from a JSON array of objects such as
//
//	{"name": "pro", "rate": 5, "points": 200000, "overage": true}
//
// where rate and points are numbers or "unlimited" and overage may be left out.
func ParsePlans(r io.Reader) ([]Plan, error) {
	var raw []json.RawMessage
	d := json.NewDecoder(r)
	if err := d.Decode(&raw); err != nil {
		return nil, fmt.Errorf("plans: not a JSON array: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("plans: there is something behind the array")
	}
	if len(raw) > maxPlans {
		return nil, fmt.Errorf("plans: %d of them, at most %d are taken", len(raw), maxPlans)
	}
	plans := make([]Plan, len(raw))
	seen := map[string]bool{}
	for i := range raw {
		var err error
		if plans[i], err = parsePlan(raw[i]); err != nil {
			return nil, fmt.Errorf("plan %d: %w", i+1, err)
		}
		if seen[plans[i].Name] {
			return nil, fmt.Errorf("plan %d: there is another one named %q", i+1, plans[i].Name)
		}
		seen[plans[i].Name] = true
	}
	return plans, nil
}

// parsePlan demands both numbers: a limit that was forgotten must not become 0.
func parsePlan(data []byte) (Plan, error) {
	var p struct {
		Name    string `json:"name"`
		Rate    *Limit `json:"rate"`
		Points  *Limit `json:"points"`
		Overage bool   `json:"overage"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Plan{}, err
	}
	if p.Rate == nil || p.Points == nil {
		return Plan{}, errors.New("rate and points must both be given")
	}
	plan := Plan{Name: p.Name, Rate: *p.Rate, Points: *p.Points, Overage: p.Overage}
	return plan, plan.check()
}

func (p Plan) check() error {
	if err := checkName("a plan", p.Name); err != nil {
		return err
	}
	if err := checkRate(p.Rate); err != nil {
		return err
	}
	return checkPoints(p.Points)
}

func checkRate(rate Limit) error {
	if rate != Unlimited && (rate < 1 || rate > maxRate) {
		return fmt.Errorf("the rate %d is outside 1 to %d requests a second, and not unlimited", int64(rate), maxRate)
	}
	return nil
}

func checkPoints(points Limit) error {
	if points != Unlimited && (points < 0 || points > maxPoints) {
		return fmt.Errorf("%d points a month are outside 0 to %d, and not unlimited", int64(points), maxPoints)
	}
	return nil
}
