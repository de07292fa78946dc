package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Unlimited is no limit, of points or of rate.
const Unlimited = -1

// A Limit is a number that is not negative, or Unlimited.
type Limit int64

// ParseLimit reads a number or the word unlimited.
func ParseLimit(s string) (Limit, error) {
	if s == "unlimited" {
		return Unlimited, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a limit: write a number from 0 on, or unlimited", s)
	}
	return Limit(n), nil
}

// String writes the number, or the word unlimited.
func (l Limit) String() string {
	if l == Unlimited {
		return "unlimited"
	}
	return strconv.FormatInt(int64(l), 10)
}

// UnmarshalText reads a flag's value.
func (l *Limit) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLimit(string(text))
	return err
}

// UnmarshalJSON reads a number or the string "unlimited".
func (l *Limit) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) != nil {
		word = string(data)
	}
	return l.UnmarshalText([]byte(word))
}

// MarshalJSON writes a number or the string "unlimited".
func (l Limit) MarshalJSON() ([]byte, error) {
	if l == Unlimited {
		return []byte(`"unlimited"`), nil
	}
	return []byte(l.String()), nil
}

// A Plan is what an account may use.
type Plan struct {
	Name    string `json:"name"`
	Rate    Limit  `json:"rate"`    // requests a second, also the bucket's capacity
	Points  Limit  `json:"points"`  // points a calendar month
	Overage bool   `json:"overage"` // whether points beyond the limit may be used
	Stored  int64  `json:"stored"`  // bytes of idempotency records that are kept for an account
}

// Bounds of what a plan may say. A rate above a million has no meaning: the
// bucket counts in nanoseconds.
const (
	maxRate   = 1_000_000
	maxPoints = 1_000_000_000_000
	maxPlans  = 1000
	maxName   = 64

	// DefaultStored is the bytes of idempotency records of a plan that names no
	// other number.
	DefaultStored = 256 << 20
	maxStored     = 1 << 40
)

// DefaultPlan is the plan of an account that names none.
const DefaultPlan = "free"

// DefaultPlans are the plans that a new database begins with.
func DefaultPlans() []Plan {
	return []Plan{
		{Name: DefaultPlan, Rate: 1, Points: 1000, Stored: DefaultStored},
		{Name: "pro", Rate: 5, Points: 200_000, Overage: true, Stored: DefaultStored},
		{Name: "enterprise", Rate: Unlimited, Points: Unlimited, Stored: DefaultStored},
	}
}

// ParsePlans reads plans from a JSON array of objects such as
//
//	{"name": "pro", "rate": 5, "points": 200000, "overage": true}
//
// where rate and points are numbers or "unlimited". overage may be left out, and
// stored, the bytes of idempotency records kept for an account.
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
	p := struct {
		Name    string `json:"name"`
		Rate    *Limit `json:"rate"`
		Points  *Limit `json:"points"`
		Overage bool   `json:"overage"`
		Stored  int64  `json:"stored"`
	}{Stored: DefaultStored}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Plan{}, err
	}
	if p.Rate == nil || p.Points == nil {
		return Plan{}, errors.New("rate and points must both be given")
	}
	plan := Plan{Name: p.Name, Rate: *p.Rate, Points: *p.Points, Overage: p.Overage, Stored: p.Stored}
	return plan, plan.check()
}

func (p Plan) check() error {
	if err := checkName("a plan", p.Name); err != nil {
		return err
	}
	if err := checkRate(p.Rate); err != nil {
		return err
	}
	if p.Stored < 0 || p.Stored > maxStored {
		return fmt.Errorf("%d stored bytes are outside 0 to %d", p.Stored, int64(maxStored))
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

// checkName bounds what people see again in lists.
func checkName(of, name string) error {
	odd := func(r rune) bool { return !unicode.IsGraphic(r) }
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("the name of %s must have 1 to %d bytes and no control characters", of, maxName)
	}
	return nil
}

// StorePlans adds plans to the database and changes those that have the same
// name. A plan that is not named stays, since accounts may be on it.
func (l *Ledger) StorePlans(ctx context.Context, plans []Plan) error {
	rows := make([][]any, len(plans))
	for i, p := range plans {
		if err := p.check(); err != nil {
			return fmt.Errorf("plan %q: %w", p.Name, err)
		}
		rows[i] = []any{p.Name, int64(p.Rate), int64(p.Points), p.Overage, p.Stored}
	}
	return l.transact(ctx, nil, func(time.Time) ([]store.Statement, error) {
		return []store.Statement{{Name: "put_plans", Args: []any{asJSON(rows)}}}, nil
	})
}

// Plans lists the plans by name.
func (l *Ledger) Plans(ctx context.Context) ([]Plan, error) {
	var list []Plan
	err := l.query(ctx, store.Statement{Name: "list_plans", Scan: func(r store.Row) error {
		var p Plan
		err := r.Scan(&p.Name, &p.Rate, &p.Points, &p.Overage, &p.Stored)
		list = append(list, p)
		return err
	}})
	return list, err
}
