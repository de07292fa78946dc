package webhook

import (
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func sqlite(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "ledger.db") }

// Three replicas send each of 40 messages once, never two of an account at a time.
func TestReplicasSendOnce(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		var under sync.Map // requests in progress, by path
		var overlaps atomic.Int64
		f.receiver.respond = func(_ http.ResponseWriter, r *http.Request) {
			if _, other := under.LoadOrStore(r.URL.Path, true); other {
				overlaps.Add(1)
			}
			time.Sleep(20 * time.Millisecond) // real time: a receiver takes a while
			under.Delete(r.URL.Path)
		}
		var customers []*customer
		for _, name := range names(20) {
			customers = append(customers, f.account(name, 10))
			customers[len(customers)-1].use(10)
		}
		replicas := []*fixture{f, f.replica(nil), f.replica(nil)}
		for _, r := range replicas {
			r.run()
		}
		for _, c := range customers {
			c.await(2)
		}
		f.awaitScans()
		ids := map[string]bool{}
		for _, r := range f.receiver.requests() {
			ids[r.header.Get("webhook-id")] = true
		}
		require.Len(t, ids, 40)
		require.Len(t, f.receiver.requests(), 40)
		require.Zero(t, overlaps.Load(), "two messages of one account at a time")
		var sent int64
		for _, r := range replicas {
			sent += r.Stats().Sent
		}
		require.EqualValues(t, 40, sent)
	})
}

// A replica that dies while the receiver works leaves a lease: within it nobody repeats the attempt, or sends the
// account another message. Once it has ended another replica sends the message again under the same ID. A replica
// that dies in every attempt uses them up: the message is abandoned without a further one.
func TestReplicaDies(t *testing.T) {
	now := newClock(time.Now())
	each(t, func(t *testing.T, f *fixture, c *customer) {
		c.use(10)
		require.NoError(t, f.scan(f.ctx))
		dying := f.replica(func(o *Options) { o.Timeout, o.Lease = patience, patience })
		first := must(dying.claim(f.ctx, c.id))(t)
		stop := f.run()
		f.awaitScans()
		require.Empty(t, f.receiver.requests())
		now.Add(int64(2 * patience)) // the end of the lease
		for _, d := range c.await(2) {
			require.True(t, d.Delivered)
			require.Equal(t, d.ID == first.id, d.Attempts == 2)
		}
		require.Equal(t, first.id, f.receiver.requests()[0].header.Get("webhook-id"))
		stop()

		other := f.account("other", 10)
		other.use(8)
		require.NoError(t, f.scan(f.ctx))
		for range 3 {
			require.NotNil(t, must(dying.claim(f.ctx, other.id))(t))
			now.Add(int64(2 * patience))
		}
		f.run()
		require.Equal(t, "abandoned after 3 attempts: the process that made the last attempt ended", other.await(1)[0].Status)
		require.Len(t, f.receiver.requests(), 2)
	}, now.option())
}

// Run returns within the grace although a receiver does not respond. The attempt
// does not count, and another replica repeats it at once. A receiver that responds within the grace gets its
// message once.
func TestStop(t *testing.T) {
	each(t, func(t *testing.T, f *fixture, c *customer) {
		var n atomic.Int64
		f.receiver.respond = func(_ http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				<-r.Context().Done()
				panic(http.ErrAbortHandler) // the sender may still read: TLS announces the end before TCP has it
			}
			time.Sleep(50 * time.Millisecond) // real time: a receiver takes a while
		}
		c.use(8)
		stop := f.replica(func(o *Options) { o.Timeout, o.Grace = 10*patience, 100*time.Millisecond }).run()
		f.awaitRequests(1)
		stop()
		require.Contains(t, c.list()[0].Status, "interrupted")
		require.Zero(t, c.list()[0].Attempts)
		stop = f.run()
		f.awaitRequests(2)
		stop()
		require.True(t, c.list()[0].Delivered)
		require.Equal(t, 1, c.list()[0].Attempts)
	})
}
