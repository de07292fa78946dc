package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// A Usage is what an account has used and has left. A nil number is unlimited.
type Usage struct {
	Points struct {
		Used      int64
		Limit     *int64
		Remaining *int64
		Overage   bool // more than Limit may be used
		Refill    time.Time
	}
	Rate struct {
		Limit *int64 // requests a second
	}
}

// Left returns the points that may still be used, and whether they are limited.
func (u *Usage) Left() (points int64, limited bool) {
	if u.Points.Remaining == nil || u.Points.Overage {
		return 0, false
	}
	return *u.Points.Remaining, true
}

// Usage returns the account's points and rate, at no cost. It also shows whether
// the service can be reached and knows the key.
func (c *Client) Usage(ctx context.Context) (u Usage, err error) {
	answer, err := c.send(ctx, &request{method: http.MethodGet, path: "/v1/usage", patience: startPatience})
	if err != nil {
		return u, err
	}
	if json.Unmarshal(answer.body, &u) != nil || u.Points.Refill.IsZero() {
		return Usage{}, &BadAnswer{"the answer to GET /v1/usage is not the usage of an account"}
	}
	return u, nil
}

// withRefill adds to an OutOfPoints error when the points refill, and returns any
// other error as it is.
func (c *Client) withRefill(ctx context.Context, err error) error {
	out := IsOutOfPoints(err)
	if out == nil {
		return err
	}
	if u, failed := c.Usage(ctx); failed == nil {
		out.Refill = u.Points.Refill
		out.Remaining, _ = u.Left()
	}
	return out
}
