package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// An account gets one message at 80 % and one at 100 %, signed as Standard
// Webhooks says, and none before, between or after.
func TestThresholds(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		c := f.account("customer", 9) // 80 % is 7.2, so 8 points
		f.run()
		c.use(7)
		f.awaitScans()
		require.Empty(t, c.list())
		c.use(1)
		requireMessage(t, c, f.awaitRequests(1)[0], `{"account":1,"percent":80,"used":8,"limit":9}`)
		c.use(1)
		requireMessage(t, c, f.awaitRequests(2)[1], `{"account":1,"percent":100,"used":9,"limit":9}`)
		f.awaitScans()
		require.Len(t, f.receiver.requests(), 2)
		for _, d := range c.await(2) {
			require.True(t, d.Delivered)
			require.Equal(t, "delivered: HTTP 204", d.Status)
		}
		require.Eventually(t, func() bool { return f.Stats() == Stats{Sent: 2} }, patience, time.Millisecond) // counted after the row is written
	})
}

// requireMessage verifies a message twice: with the library that receivers use,
// and with the formula of the specification.
func requireMessage(t *testing.T, c *customer, r request, want string) {
	t.Helper()
	verifier := must(standardwebhooks.NewWebhook(c.secret))(t)
	require.NoError(t, verifier.Verify(r.body, r.header))
	key := must(base64.StdEncoding.DecodeString(strings.TrimPrefix(c.secret, "whsec_")))(t)
	require.Len(t, key, 32)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.header.Get("webhook-id") + "." + r.header.Get("webhook-timestamp") + "." + string(r.body)))
	require.Equal(t, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)), r.header.Get("webhook-signature"))
	require.Equal(t, "application/json", r.header.Get("content-type"))

	var m message
	require.NoError(t, json.Unmarshal(r.body, &m))
	require.Equal(t, "usage.threshold", m.Type)
	require.Equal(t, m.Timestamp.UTC().Format("2006-01"), m.Data.Month)
	require.Equal(t, 1, m.Data.Refill.Day())
	require.True(t, m.Data.Refill.After(m.Timestamp))
	require.NotContains(t, string(r.body), "@")
	require.NotContains(t, string(r.body), c.key)
	got, err := json.Marshal(map[string]any{"account": m.Data.Account, "percent": m.Data.Percent, "used": m.Data.Used, "limit": m.Data.Limit})
	require.NoError(t, err)
	require.JSONEq(t, want, string(got))
}

// An unlimited account and one with no points at all have no thresholds; a new
// month has its own.
func TestMonthsAndLimits(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		now := newClock(time.Date(2026, 12, 31, 12, 0, 0, 0, time.UTC))
		f := newFixture(t, url, now.option())
		c := f.account("customer", 100)
		f.account("none", 0)
		f.account("unlimited", book.Unlimited).use(64)
		c.use(85)
		require.NoError(t, f.scan(f.ctx))
		require.Len(t, c.list(), 1)
		a := must(f.claim(f.ctx, c.id))(t)
		require.EqualValues(t, 80, a.percent)
		require.Contains(t, a.body, `"month":"2026-12","refill":"2027-01-01T00:00:00Z"`)

		now.Add(int64(24 * time.Hour))
		require.NoError(t, f.scan(f.ctx))
		require.Len(t, c.list(), 1, "the points were refilled")
		january := &customer{fixture: f.replica(nil), id: c.id, key: c.key} // f's ledger has measured the time itself since its start
		january.use(100)
		require.NoError(t, f.scan(f.ctx))
		require.NoError(t, f.scan(f.ctx))
		require.Len(t, c.list(), 3)
		for _, other := range []int64{c.id + 1, c.id + 2} {
			list := must(f.Deliveries(f.ctx, other, 10))(t)
			require.Empty(t, list)
		}
	})
}

// A message that fails is sent again with the same ID until it is accepted, or after the last
// attempt abandoned.
func TestRetries(t *testing.T) {
	for want, statuses := range map[string][]int{
		"delivered: HTTP 200":                  {500, 429, 200},
		"abandoned after 3 attempts: HTTP 500": {500, 500, 500},
	} {
		each(t, func(t *testing.T, f *fixture, c *customer) {
			var n atomic.Int64
			f.receiver.respond = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(statuses[n.Add(1)-1]) }
			c.use(8)
			f.run()
			d := c.await(1)[0]
			require.Equal(t, want, d.Status)
			require.Equal(t, 3, d.Attempts)
			require.Zero(t, d.Next)
			f.awaitScans()
			requests := f.receiver.requests()
			require.Len(t, requests, 3)
			for _, r := range requests {
				requireMessage(t, c, r, `{"account":1,"percent":80,"used":8,"limit":10}`)
				require.Equal(t, d.ID, r.header.Get("webhook-id"))
			}
			stats := Stats{Failed: 3, Abandoned: 1}
			if d.Delivered {
				stats = Stats{Sent: 1, Failed: 2}
			}
			counted := func() bool { return f.Stats() == stats } // after the row is written
			require.Eventually(t, counted, patience, time.Millisecond)
		})
	}
}

// The waits are those that the documents give, with at most a fifth more, and at
// least what the receiver asks for, which is bounded.
func TestSchedule(t *testing.T) {
	f, c := withCustomer(t, sqlite(t))
	f.Retries = defaultRetries
	var total time.Duration
	for i, least := range defaultRetries {
		for range 100 {
			a := &attempt{delivery: delivery{attempts: int64(i + 1), percent: 80}}
			v := f.judge(a, outcome{words: "HTTP 500", status: 500})
			require.False(t, v.done)
			require.GreaterOrEqual(t, v.wait, least)
			require.LessOrEqual(t, v.wait, least+least/5)
		}
		total += least
	}
	require.Equal(t, 31*time.Hour+35*time.Minute+5*time.Second, total)
	last := &attempt{delivery: delivery{attempts: int64(len(defaultRetries) + 1), percent: 80}}
	require.True(t, f.judge(last, outcome{status: 500}).done)

	c.use(8)
	require.NoError(t, f.scan(f.ctx))
	a := must(f.claim(f.ctx, c.id))(t)
	for asked, wait := range map[string]time.Duration{
		"3600": time.Hour, "2000000000": maxRetryAfter, "-1": 0, "Sun, 29 Nov 2026 00:00:00 GMT": 0} {
		f.receiver.respond = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", asked)
			w.WriteHeader(http.StatusTooManyRequests)
		}
		o := f.send(f.ctx, a)
		require.Equal(t, wait, o.retryAfter, asked)
		require.GreaterOrEqual(t, f.judge(a, o).wait, wait)
	}
}

// A receiver that responds with 410 gets nothing more until its owner sets a URL again.
func TestGone(t *testing.T) {
	each(t, func(t *testing.T, f *fixture, c *customer) {
		f.receiver.respond = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }
		c.use(10)
		f.run()
		for _, d := range c.await(2) {
			require.Contains(t, d.Status, "abandoned: ")
			require.Contains(t, d.Status, "disabled")
		}
		require.Len(t, f.receiver.requests(), 1)
		hook := must(f.Get(f.ctx, c.id))(t)
		require.NotZero(t, hook.Disabled)
		require.ErrorIs(t, errOf(f.Test(f.ctx, c.id)), ErrDisabled)
		audit := must(f.ledger.AuditLog(f.ctx, c.id, 0, 1))(t)
		require.Equal(t, "webhook.disable", audit[0].Action)
		require.Equal(t, book.Service, audit[0].Actor)

		must(f.Set(f.ctx, c.id, f.receiver.URL))(t)
		hook = must(f.Get(f.ctx, c.id))(t)
		require.Zero(t, hook.Disabled)
	})
}

// No line of the log contains the URL, a secret, an email address or a key.
func TestLogIsClean(t *testing.T) {
	f, c := withCustomer(t, sqlite(t))
	var n atomic.Int64
	f.receiver.respond = func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 1 {
			panic(http.ErrAbortHandler) // the connection ends: Go's error quotes the URL
		}
	}
	c.use(8)
	f.run()
	c.await(1)
	require.Eventually(t, func() bool { return strings.Count(f.log.String(), "webhook") >= 2 }, patience, time.Millisecond)
	require.Contains(t, f.log.String(), "account=1")
	require.Contains(t, f.log.String(), "the connection failed")
	for _, secret := range []string{"127.0.0.1", "/customer", "hidden", c.secret, c.key, "owner.example"} {
		require.NotContains(t, f.log.String(), secret)
	}
}

// Deliveries are kept for three months, so an old one cannot be made twice.
func TestOldDeliveriesAreDeleted(t *testing.T) {
	now := newClock(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	each(t, func(t *testing.T, f *fixture, c *customer) {
		c.use(10)
		require.NoError(t, f.scan(f.ctx))
		now.Add(int64(keepDeliveries))
		require.NoError(t, f.clean(f.ctx))
		require.Len(t, c.list(), 2)
		now.Add(1)
		require.NoError(t, f.clean(f.ctx))
		require.Empty(t, c.list())
	}, now.option())
}
