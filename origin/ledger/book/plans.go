package book

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// ErrNoPlan is wrapped by the error for terms with a plan that does not exist.
var ErrNoPlan = errors.New("there is no such plan")

// Unlimited means no limit, of points or of rate.
const Unlimited = -1

// A Limit is a non-negative number, or Unlimited.
type Limit int64

// ParseLimit parses a number or the word unlimited.
func ParseLimit(s string) (Limit, error) {
	if s == "unlimited" {
		return Unlimited, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > maxPoints {
		return 0, fmt.Errorf("%q is not a limit: it must be a whole number from 0 to %d, or unlimited", s, maxPoints)
	}
	return Limit(n), nil
}

// String returns the number, or the word unlimited.
func (l Limit) String() string {
	if l == Unlimited {
		return "unlimited"
	}
	return strconv.FormatInt(int64(l), 10)
}

// UnmarshalText parses a flag's value, as ParseLimit does.
func (l *Limit) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLimit(string(text))
	return err
}

// UnmarshalJSON parses a number or the string "unlimited".
func (l *Limit) UnmarshalJSON(data []byte) error {
	return l.UnmarshalText(bytes.Trim(data, `"`))
}

// MarshalJSON returns a number or the string "unlimited".
func (l Limit) MarshalJSON() ([]byte, error) {
	if l == Unlimited {
		return []byte(`"unlimited"`), nil
	}
	return []byte(l.String()), nil
}

// A Plan is the limits that accounts share.
type Plan struct {
	Name    string `json:"name"`
	Rate    Limit  `json:"rate"`    // requests a second, also the capacity of the token bucket
	Points  Limit  `json:"points"`  // points a calendar month
	Overage bool   `json:"overage"` // whether points beyond the limit may be used
	Stored  int64  `json:"stored"`  // bytes of idempotency records stored for an account
}

// Bounds of a plan.
const (
	maxRate   = 1_000_000 // exact to 0.1 %, because the interval between tokens is in whole nanoseconds
	maxPoints = 1_000_000_000_000
	maxPlans  = 1000
	maxStored = 1 << 40
	maxName   = 64
)

const (
	DefaultStored = 256 << 20 // of Plan.Stored
	DefaultPlan   = "free"    // of accounts created without one
)

// DefaultPlans returns the plans of a new database.
func DefaultPlans() []Plan {
	return []Plan{
		{Name: DefaultPlan, Rate: 1, Points: 1000, Stored: DefaultStored},
		{Name: "pro", Rate: 5, Points: 200_000, Overage: true, Stored: DefaultStored},
		{Name: "enterprise", Rate: Unlimited, Points: Unlimited, Stored: DefaultStored},
	}
}

// ParsePlans parses a JSON array of objects such as
//
//	{"name": "pro", "rate": 5, "points": 200000, "overage": true}
//
// rate and points are numbers or "unlimited", and both are required, because a forgotten limit
// must not become 0. overage is false by default, and stored, the bytes of idempotency records
// for an account, is DefaultStored.
func ParsePlans(r io.Reader) ([]Plan, error) {
	var given []struct {
		Plan
		Rate   *Limit `json:"rate"`
		Points *Limit `json:"points"`
		Stored *int64 `json:"stored"`
	}
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&given); err != nil {
		return nil, fmt.Errorf("plans: not a JSON array of plans: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("plans: data after the array")
	}
	if len(given) > maxPlans {
		return nil, fmt.Errorf("plans: there are %d, more than the limit of %d", len(given), maxPlans)
	}
	plans := make([]Plan, len(given))
	seen := map[string]bool{}
	for i, g := range given {
		if g.Rate == nil || g.Points == nil {
			return nil, fmt.Errorf("plan %d: rate and points must both be given", i+1)
		}
		p := Plan{Name: g.Name, Rate: *g.Rate, Points: *g.Points, Overage: g.Overage, Stored: DefaultStored}
		if g.Stored != nil {
			p.Stored = *g.Stored
		}
		if err := CheckPlan(p); err != nil {
			return nil, fmt.Errorf("plan %d: %w", i+1, err)
		}
		if seen[p.Name] {
			return nil, fmt.Errorf("plan %d: an earlier plan has the name %q too", i+1, p.Name)
		}
		plans[i], seen[p.Name] = p, true
	}
	return plans, nil
}

// CheckPlan returns an error if StorePlans would refuse p.
func CheckPlan(p Plan) error {
	if err := cmp.Or(checkName("a plan", p.Name), checkRate(&p.Rate), checkPoints(&p.Points)); err != nil {
		return err
	}
	if p.Stored < 0 || p.Stored > maxStored {
		return fmt.Errorf("%d stored bytes are outside 0 to %s", p.Stored, humanize.IBytes(maxStored))
	}
	return nil
}

func checkRate(rate *Limit) error {
	if rate != nil && *rate != Unlimited && (*rate < 1 || *rate > maxRate) {
		return fmt.Errorf("the rate %d is outside 1 to %d requests a second and is not unlimited", int64(*rate), maxRate)
	}
	return nil
}

func checkPoints(points *Limit) error {
	if points != nil && *points != Unlimited && (*points < 0 || *points > maxPoints) {
		return fmt.Errorf("%d points a month are outside 0 to %d and are not unlimited", int64(*points), maxPoints)
	}
	return nil
}

func checkName(of, name string) error {
	odd := func(r rune) bool { return !unicode.IsGraphic(r) }
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("the name of %s must have 1 to %d bytes and no control characters", of, maxName)
	}
	return nil
}

// StorePlans adds plans to the database and replaces those with the same name.
// Other plans remain, because accounts may be on them.
func (b *Book) StorePlans(ctx context.Context, plans []Plan) error {
	rows := make([][]any, len(plans))
	for i, p := range plans {
		if err := CheckPlan(p); err != nil {
			return fmt.Errorf("plan %q: %w", p.Name, err)
		}
		rows[i] = []any{p.Name, int64(p.Rate), int64(p.Points), p.Overage, p.Stored}
	}
	return b.transact(ctx, nil, func(time.Time) ([]store.Statement, error) {
		return []store.Statement{statement("put_plans", store.JSON(rows))}, nil
	})
}

// Plans returns the plans, sorted by name.
func (b *Book) Plans(ctx context.Context) ([]Plan, error) {
	return list(ctx, b.query, "list_plans", nil, func(p *Plan) []any {
		return []any{&p.Name, &p.Rate, &p.Points, &p.Overage, &p.Stored}
	})
}

// Terms are what an account may use: its plan, and limits of its own that
// override the plan's unless they are nil.
type Terms struct {
	Plan    string // "" is DefaultPlan
	Rate    *Limit // requests a second
	Points  *Limit // points a calendar month
	Overage *bool  // whether points beyond the limit may be used; if nil, Points above is a hard limit
}

func (b *Book) checkTerms(ctx context.Context, t Terms) (Terms, error) {
	if t.Plan == "" {
		t.Plan = DefaultPlan
	}
	if t.Points != nil && t.Overage == nil {
		t.Overage = new(bool)
	}
	plans, err := b.Plans(ctx)
	names := make([]string, len(plans))
	for i, p := range plans {
		names[i] = p.Name
	}
	if err == nil && !slices.Contains(names, t.Plan) {
		err = fmt.Errorf("%w %q; the plans are %s", ErrNoPlan, t.Plan, strings.Join(names, ", "))
	}
	return t, errors.Join(err, checkRate(t.Rate), checkPoints(t.Points))
}

func (t *Terms) describe() string {
	text := "plan " + t.Plan
	if t.Rate != nil {
		text += ", rate " + t.Rate.String()
	}
	if t.Points != nil {
		text += ", points " + t.Points.String()
	}
	if t.Overage != nil && *t.Overage {
		text += ", overage"
	}
	return text
}

func (t *Terms) args() []any { return []any{t.Plan, t.Rate, t.Points, t.Overage} }
