package webhook

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// Changes of a webhook are in the audit log, with its host and no path.
func TestOwner(t *testing.T) {
	each(t, func(t *testing.T, f *fixture, c *customer) {
		require.ErrorIs(t, errOf(f.Get(f.ctx, c.id+1)), ErrNone)
		require.ErrorIs(t, errOf(f.Rotate(f.ctx, c.id+1)), book.ErrNoAccount)
		_, err := f.Set(f.ctx, c.id+1, "https://hooks.example.com/")
		require.ErrorIs(t, err, book.ErrNoAccount)

		asOwner := book.WithActor(f.ctx, book.Owner)
		secret := must(f.Set(asOwner, c.id, "https://HOOKS.example.com:443/t0ken"))(t)
		require.NotEqual(t, c.secret, secret)
		hook := must(f.Get(f.ctx, c.id))(t)
		require.Equal(t, "https://hooks.example.com/t0ken", hook.URL)
		rotated := must(f.Rotate(asOwner, c.id))(t)
		require.NotEqual(t, secret, rotated)
		require.NoError(t, f.Remove(asOwner, c.id))
		require.ErrorIs(t, f.Remove(asOwner, c.id), ErrNone)
		require.ErrorIs(t, errOf(f.Rotate(asOwner, c.id)), ErrNone)
		require.ErrorIs(t, errOf(f.Get(f.ctx, c.id)), ErrNone)
		require.ErrorIs(t, errOf(f.Test(f.ctx, c.id)), ErrNone)

		audit := must(f.ledger.AuditLog(f.ctx, c.id, 0, 3))(t)
		for i, action := range []string{"webhook.remove", "webhook.rotate", "webhook.set"} {
			require.Equal(t, action, audit[i].Action)
			require.Equal(t, book.Owner, audit[i].Actor)
			require.Equal(t, "hooks.example.com", audit[i].Subject)
		}
	})
}

// After a rotation both secrets sign for a day, then the new one alone.
func TestRotation(t *testing.T) {
	now := newClock(time.Now())
	f, c := withCustomer(t, sqlite(t), now.option())
	rotated := must(f.Rotate(f.ctx, c.id))(t)
	// signs tests the webhook after d, and reports whether a secret signs the message.
	signs := func(d time.Duration, secret string) bool {
		now.Add(int64(d))
		before := len(f.receiver.requests())
		must(f.Test(f.ctx, c.id))(t)
		r := f.awaitRequests(before + 1)[before]
		verifier := must(standardwebhooks.NewWebhook(secret))(t)
		return verifier.VerifyIgnoringTimestamp(r.body, r.header) == nil
	}
	require.True(t, signs(0, c.secret))
	require.True(t, signs(testEvery, rotated))
	require.True(t, signs(bothSign-2*testEvery, c.secret))
	require.False(t, signs(testEvery, c.secret))
	require.True(t, signs(testEvery, rotated))
}

// Messages that wait are not sent after the webhook was removed.
func TestRemoveEndsDeliveries(t *testing.T) {
	each(t, func(t *testing.T, f *fixture, c *customer) {
		c.use(10)
		require.NoError(t, f.scan(f.ctx))
		require.Equal(t, "waiting to be sent", c.list()[0].Status)
		require.NoError(t, f.Remove(f.ctx, c.id))
		f.run()
		f.awaitScans()
		require.Empty(t, f.receiver.requests())
		for _, d := range c.list() {
			require.Equal(t, "abandoned: the webhook was removed", d.Status)
			require.True(t, d.Done)
		}
	})
}

// A test is sent at once, is signed like other messages, and cannot be used to
// send many.
func TestTest(t *testing.T) {
	now := newClock(time.Now())
	each(t, func(t *testing.T, f *fixture, c *customer) {
		c.use(3)
		d := must(f.Test(f.ctx, c.id))(t)
		require.True(t, d.Delivered)
		require.Equal(t, "delivered: HTTP 204", d.Status)
		requireMessage(t, c, f.awaitRequests(1)[0], `{"account":1,"percent":0,"used":3,"limit":10}`)

		err := errOf(f.replica(nil).Test(f.ctx, c.id))
		require.ErrorIs(t, err, ErrTooSoon)
		require.ErrorContains(t, err, "seconds")
		now.Add(int64(testEvery))
		f.receiver.respond = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }
		d = must(f.Test(f.ctx, c.id))(t)
		require.Equal(t, "failed: HTTP 500", d.Status)
		f.run()
		f.awaitScans()
		require.Len(t, f.receiver.requests(), 2, "a test is sent once")
		require.Len(t, c.list(), 1, "one row")

		free := f.account("unlimited", book.Unlimited)
		f.receiver.respond = nil
		must(f.Test(f.ctx, free.id))(t)
		require.Contains(t, string(f.awaitRequests(3)[2].body), `"limit":null`)
	}, now.option())
}

// Receivers that do not respond to tests keep no message from being sent, and no other account
// from learning that it may not test. A test that gets no slot says so.
func TestHangingTests(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		release := f.hang("/hangs")
		var hanging []*customer
		for i := range maxTests + 1 {
			hanging = append(hanging, f.account("hangs-"+strconv.Itoa(i), 10))
		}
		results := f.testsOf(hanging...)
		f.awaitRequests(maxTests)
		require.ErrorIs(t, errOf(f.Test(f.ctx, hanging[0].id)), ErrTooSoon)
		require.ErrorIs(t, errOf(f.Test(f.ctx, hanging[0].id+1000)), book.ErrNoAccount)
		f.run()
		for _, name := range names(2 * maxAttempts) {
			c := f.account(name, 10)
			c.use(8)
			c.await(1)
		}
		require.Len(t, f.receiver.requests(), maxTests+2*maxAttempts, "the other test waits")

		ctx, leave := context.WithCancel(f.ctx)
		impatient := *f
		impatient.ctx = ctx
		last := f.account("impatient", 10)
		result := impatient.testsOf(last)
		leave()
		require.Contains(t, (<-result).Status, "not sent, because the service sends many other tests")
		require.Contains(t, last.list()[0].Status, "not sent")
		close(release)
		for range hanging {
			require.Equal(t, "delivered: HTTP 200", (<-results).Status)
		}
	})
}

// One replica has at most 8 attempts in progress, and a slot that gets free goes to the next
// message. Receivers that do not respond to messages keep no test from being sent, but for a test
// to the same receiver.
func TestHangingMessages(t *testing.T) {
	f := newFixture(t, sqlite(t))
	release := f.hang("/account-")
	customers := map[string]*customer{}
	for _, name := range names(maxAttempts + 1) {
		customers["/"+name] = f.account(name, 10)
		customers["/"+name].use(8)
	}
	f.run()
	first := customers[f.awaitRequests(maxAttempts)[0].path]
	require.ErrorIs(t, errOf(f.Test(f.ctx, first.id)), ErrTooSoon)
	d := must(f.Test(f.ctx, f.account("tests", 10).id))(t)
	require.True(t, d.Delivered)
	require.Len(t, f.receiver.requests(), maxAttempts+1)
	release <- struct{}{}
	f.awaitRequests(maxAttempts + 2)
	close(release)
}

// hang makes the receiver wait for release before it responds at paths that begin with prefix.
func (f *fixture) hang(prefix string) (release chan struct{}) {
	release = make(chan struct{})
	f.receiver.respond = func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, prefix) {
			<-release
		}
	}
	return release
}

// testsOf begins a test of each account, and returns where the results arrive.
func (f *fixture) testsOf(accounts ...*customer) <-chan Delivery {
	results := make(chan Delivery, len(accounts))
	for _, c := range accounts {
		go func() {
			d, err := f.Test(f.ctx, c.id)
			if err != nil {
				d.Status = err.Error()
			}
			results <- d
		}()
		require.Eventually(f, func() bool { return len(c.list()) == 1 }, patience, time.Millisecond) // claimed
	}
	return results
}

// A database that is closed or gone is an error that callers can recognize.
func TestUnavailable(t *testing.T) {
	f, c := withCustomer(t, sqlite(t))
	other := f.replica(nil)
	require.NoError(t, other.ledger.Close())
	_, err := other.Set(f.ctx, c.id, "https://hooks.example.com/s3cret")
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.False(t, strings.Contains(err.Error(), "s3cret"))
	require.ErrorIs(t, other.scan(f.ctx), store.ErrUnavailable)
	require.ErrorIs(t, errOf(other.Get(f.ctx, c.id)), store.ErrUnavailable)
	other.run()
	waits := func() bool { return f.log.Contains("webhooks wait for the database") }
	require.Eventually(t, waits, patience, time.Millisecond)
}

// stored returns the secret of a customer as the database has it.
func (c *customer) stored() string {
	var h hook
	require.NoError(c, c.query(c.ctx, "read_webhook", h.scan, c.id))
	return h.secret
}

// sealedBy makes the customer's Sender seal with keys.
func (c *customer) sealedBy(keys ...string) *store.Sealer {
	s := must(store.NewSealer(keys...))(c.T)
	c.Sender.Sealer = s
	return s
}

// A thief of the database has no signing secret. One from before there was a key, or of
// the key of before, is sealed as it is first used. Receivers notice nothing.
func TestSigningSecretIsSealed(t *testing.T) {
	each(t, func(t *testing.T, f *fixture, c *customer) {
		require.Equal(t, c.secret, c.stored())
		c.use(9)
		require.NoError(t, f.scan(f.ctx))
		one := c.sealedBy("one key of the tests, which is not random")
		require.NoError(t, f.serve(f.ctx, f.ctx, c.id))
		requireMessage(t, c, f.awaitRequests(1)[0], `{"account":1,"percent":80,"used":9,"limit":10}`)
		require.Contains(t, c.stored(), one.IDs()[0])

		rotated := must(f.Rotate(f.ctx, c.id))(t)
		require.NotContains(t, c.stored(), rotated)
		c.use(1)
		require.NoError(t, f.scan(f.ctx))
		other := c.sealedBy("another key of the tests, neither random", "one key of the tests, which is not random")
		require.NoError(t, f.serve(f.ctx, f.ctx, c.id))
		r := f.awaitRequests(2)[1]
		for _, secret := range []string{c.secret, rotated} {
			verifier := must(standardwebhooks.NewWebhook(secret))(t)
			require.NoError(t, verifier.Verify(r.body, r.header))
		}
		counts := must(store.CountSecrets(f.ctx, f.ledger.Store()))(t)
		require.Equal(t, map[string]int64{other.IDs()[0]: 2}, counts)

		c.sealedBy()
		d := must(f.Test(f.ctx, c.id))(t)
		require.Equal(t, "failed: the signing secret cannot be read; set the URL again, with a new one", d.Status)
		require.Len(t, f.receiver.requests(), 2, "nothing is sent that is not signed")
	})
}
