package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A message is the body that a receiver gets. It contains no email address and no
// key.
type message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // when the threshold was noticed
	Data      usage     `json:"data"`
}

type usage struct {
	Account int64     `json:"account"`
	Percent int64     `json:"percent"` // 80 or 100; 0 in a test
	Used    int64     `json:"used"`
	Limit   *int64    `json:"limit"` // null is unlimited, which only a test reports
	Month   string    `json:"month"` // such as 2026-11
	Refill  time.Time `json:"refill"`
}

// points are what an account has used of its limit in a month.
type points struct{ account, month, used, limit int64 }

func (p *points) scan(r store.Row) error { return r.Scan(&p.account, &p.month, &p.used, &p.limit) }

// message returns the body of a message about the points at now. A row has the points of an
// earlier month until the account's first charge of the present month.
func (p *points) message(now time.Time, percent int64) string {
	now = now.UTC()
	data := usage{Account: p.account, Percent: percent, Month: now.Format("2006-01")}
	data.Refill = time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	if p.month == monthOf(now) {
		data.Used = p.used
	}
	if p.limit != int64(book.Unlimited) {
		data.Limit = &p.limit
	}
	return store.JSON(message{"usage.threshold", now.Truncate(time.Millisecond), data})
}

// monthOf returns the number of the month as the ledger counts it: from January of
// year 0.
func monthOf(t time.Time) int64 {
	t = t.UTC()
	return int64(t.Year())*12 + int64(t.Month()) - 1
}

func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// newID returns a message's ID. It contains no dot, which separates what is
// signed.
func newID() string { return "msg_" + rand.Text() }

// newSecret returns a secret of 32 bytes: Standard Webhooks recommends 24 to 64.
func newSecret() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails (Go 1.24)
	return "whsec_" + base64.StdEncoding.EncodeToString(random)
}

// sign sets the headers of Standard Webhooks, with a signature by each secret. The
// specification's own library makes them, as it verifies them at receivers.
func sign(h http.Header, id string, now time.Time, body string, secrets []string) error {
	var signatures []string
	for _, secret := range secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return err
		}
		signature, err := signer.Sign(id, now, []byte(body))
		if err != nil {
			return err
		}
		signatures = append(signatures, signature)
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}
