package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
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
	if limit != int64(book.Unlimited) {
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

// scanPage is how many accounts one query and one transaction of a scan have.
const scanPage = 100

// scan stores a delivery for each account that has reached a threshold. Replicas
// that scan at the same time store the same deliveries, once. Without a new one it
// only reads.
func (s *Sender) scan(ctx context.Context) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	for after, full := int64(0), true; full && ctx.Err() == nil; {
		page, err := s.overThreshold(ctx, monthOf(now), after)
		if err != nil {
			return err
		}
		if err := s.addDeliveries(ctx, monthOf(now), page); err != nil {
			return err
		}
		full = len(page) == scanPage
		if full {
			after = page[scanPage-1].account
		}
	}
	return nil
}

// points are what an account has used of its limit.
type points struct{ account, used, limit int64 }

func (s *Sender) overThreshold(ctx context.Context, month, after int64) (page []points, err error) {
	err = s.query(ctx, "list_thresholds", []any{month, after, scanPage}, func(r store.Row) error {
		var p points
		err := r.Scan(&p.account, &p.used, &p.limit)
		page = append(page, p)
		return err
	})
	return page, err
}

// addDeliveries stores the deliveries of a page. It stores none if the month has
// ended since the accounts were read.
func (s *Sender) addDeliveries(ctx context.Context, month int64, page []points) error {
	if len(page) == 0 {
		return nil
	}
	return s.transact(ctx, nil, func(now time.Time) (list []store.Statement, err error) {
		if monthOf(now) != month {
			return nil, nil
		}
		for _, p := range page {
			list = append(list, p.deliveries(now)...)
		}
		return list, nil
	})
}

// deliveries returns the statements that store a delivery for each threshold that
// is reached, if it is not stored yet.
func (p points) deliveries(now time.Time) (list []store.Statement) {
	for _, percent := range thresholds {
		if reached(p.used, p.limit, percent) {
			body := newMessage(now, p.account, percent, p.used, p.limit)
			list = append(list, store.Statement{Name: "add_delivery", Args: []any{p.account, monthOf(now), percent, newID(), body, now.UnixNano()}})
		}
	}
	return list
}

// A delivery is a row of the table deliveries.
type delivery struct {
	id, body, status                               string
	month, percent, created, next, attempts, ended int64
}

// A Delivery is a message as its account's owner sees it.
type Delivery struct {
	ID        string    // the webhook-id
	Percent   int       // 80 or 100; 0 is a test
	Created   time.Time // when the threshold was noticed
	Attempts  int
	Next      time.Time // of the next attempt; zero if there is none
	Done      bool      // delivered, failed or abandoned
	Delivered bool
	Status    string // in words, such as "delivered: HTTP 204"
}

// Deliveries returns an account's newest messages, at most limit.
func (s *Sender) Deliveries(ctx context.Context, account int64, limit int) (list []Delivery, err error) {
	err = s.query(ctx, "list_deliveries", []any{account, limit}, func(r store.Row) error {
		var d delivery
		err := r.Scan(&d.id, &d.month, &d.percent, &d.created, &d.next, &d.attempts, &d.ended, &d.status)
		list = append(list, d.view())
		return err
	})
	return list, err
}

func (d *delivery) view() Delivery {
	v := Delivery{ID: d.id, Percent: int(d.percent), Created: timeOf(d.created), Attempts: int(d.attempts), Done: d.ended != 0, Status: d.status}
	v.Delivered = v.Done && strings.HasPrefix(d.status, "delivered")
	if !v.Done && d.status != sending {
		v.Next = timeOf(d.next)
	}
	switch {
	case v.Status == "":
		v.Status = "waiting to be sent"
	case !v.Done && d.status != sending:
		v.Status = d.status + "; it will be sent again"
	}
	return v
}

func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

const (
	keepDeliveries = 92 * 24 * time.Hour // longer than a month, whose deliveries must not be made twice
	cleanEvery     = time.Hour
	cleanPage      = 500 // rows of one transaction
)

// clean deletes old deliveries. It finds them by a read, so the write is short.
func (s *Sender) clean(ctx context.Context) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	for full := true; full && ctx.Err() == nil; {
		ids, err := s.oldDeliveries(ctx, now.Add(-keepDeliveries))
		if err == nil && len(ids) > 0 {
			err = s.deleteDeliveries(ctx, ids)
		}
		if err != nil {
			return err
		}
		full = len(ids) == cleanPage
	}
	return nil
}

func (s *Sender) oldDeliveries(ctx context.Context, before time.Time) (ids []string, err error) {
	err = s.query(ctx, "list_old_deliveries", []any{before.UnixNano(), cleanPage}, func(r store.Row) error {
		var id string
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

func (s *Sender) deleteDeliveries(ctx context.Context, ids []string) error {
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return s.transact(ctx, nil, func(time.Time) ([]store.Statement, error) {
		return []store.Statement{{Name: "delete_deliveries", Args: []any{string(list)}}}, nil
	})
}

// secretBytes is between the 24 and 64 bytes of Standard Webhooks.
const secretBytes = 32

// bothSign is how long the previous secret signs too after a rotation, so that a
// receiver can be changed without losing a message.
const bothSign = 24 * time.Hour

func newSecret() string {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails (Go 1.24)
	return "whsec_" + base64.StdEncoding.EncodeToString(random)
}

// newID returns a message's ID. It contains no dot, which separates what is
// signed.
func newID() string { return "msg_" + rand.Text() }

// sign sets the headers of Standard Webhooks. The secrets' signatures are
// separated by spaces. The specification's own library makes them, as it verifies
// them at receivers.
func sign(h http.Header, id string, now time.Time, body string, secrets []string) error {
	signatures := ""
	for _, secret := range secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return err
		}
		signature, err := signer.Sign(id, now, []byte(body))
		if err != nil {
			return err
		}
		if signatures != "" {
			signatures += " "
		}
		signatures += signature
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, signatures)
	return nil
}
