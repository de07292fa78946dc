package webhook

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/origintest"
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

// replicaDatabase and replicaRoot make this program a replica on a database that
// trusts a certificate.
const (
	replicaDatabase = "WEBHOOK_TEST_DATABASE"
	replicaRoot     = "WEBHOOK_TEST_ROOT"
)

// runReplica is the main function of a replica. It runs until it is killed.
func runReplica() {
	l, err := ledger.Open(context.Background(), os.Getenv(replicaDatabase))
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(os.Getenv(replicaRoot)))
	_, _ = os.Stdout.WriteString("running\n")
	New(l.Store(), Options{Every: 30 * time.Millisecond, Timeout: patience, Lease: patience, Allow: loopback, Local: &Local{Roots: roots}}).Run(context.Background())
}

// A replica that is killed while the receiver works leaves the message to another
// one, which sends it again under the same ID once the lease has ended, and not
// before.
func TestReplicaIsKilled(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		var later atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		f := newFixture(t, url, ledger.WithClock(now))
		var n atomic.Int64
		f.receiver.respond = func(_ http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				<-r.Context().Done() // until the replica is gone
			}
		}
		c := f.account("customer", 10)
		c.use(8)
		root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.receiver.Certificate().Raw})
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), replicaDatabase+"="+url, replicaRoot+"="+string(root))
		victim := must(origintest.Start(cmd, origintest.OnStdout))(t)
		first := f.awaitRequests(1)[0]
		victim.Kill()
		require.Equal(t, sending, c.list()[0].Status)
		f.run()
		f.awaitScans()
		require.Len(t, f.receiver.requests(), 1, "repeated within the lease")
		later.Store(int64(2 * patience)) // the end of the lease
		d := c.await(1)[0]
		require.Equal(t, "delivered: HTTP 200", d.Status)
		require.Equal(t, 2, d.Attempts)
		require.Len(t, f.receiver.requests(), 2)
		require.Equal(t, first.header.Get("webhook-id"), f.receiver.requests()[1].header.Get("webhook-id"))
	})
}

// A replica that dies in every attempt uses them up: the message is abandoned
// without a further one.
func TestEveryAttemptIsCutOff(t *testing.T) {
	f, c := withCustomer(t, sqlite(t))
	c.use(8)
	require.NoError(t, f.scan(f.ctx))
	dying := f.replica(func(o *Options) { o.Timeout, o.Lease = time.Millisecond, time.Millisecond })
	for range 3 {
		require.Eventually(t, func() bool {
			a := must(dying.claim(f.ctx, c.id))(t)
			return a != nil
		}, patience, time.Millisecond)
	}
	f.run()
	require.Equal(t, "abandoned after 3 attempts: the process that made the last attempt ended", c.await(1)[0].Status)
	require.Empty(t, f.receiver.requests())
}

// Run returns within the grace although a receiver does not respond. The attempt
// does not count, and another replica repeats it at once.
func TestStop(t *testing.T) {
	each(t, func(t *testing.T, f *fixture, c *customer) {
		var n atomic.Int64
		f.receiver.respond = func(_ http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				<-r.Context().Done()
				panic(http.ErrAbortHandler) // the sender may still read: TLS announces the end before TCP has it
			}
		}
		c.use(8)
		stopping := f.replica(func(o *Options) { o.Timeout, o.Grace = 10*patience, 100*time.Millisecond })
		stop := stopping.run()
		f.awaitRequests(1)
		stop()
		require.Contains(t, c.list()[0].Status, "interrupted")
		require.Zero(t, c.list()[0].Attempts)
		f.run()
		require.Equal(t, 1, c.await(1)[0].Attempts)
	})
}

// A receiver that responds within the grace gets its message once.
func TestStopWaits(t *testing.T) {
	f, c := withCustomer(t, sqlite(t))
	f.receiver.respond = func(http.ResponseWriter, *http.Request) {
		time.Sleep(200 * time.Millisecond) // real time: a receiver takes a while
	}
	c.use(8)
	stopping := f.replica(func(o *Options) { o.Grace = patience })
	stop := stopping.run()
	f.awaitRequests(1)
	stop()
	require.True(t, c.list()[0].Delivered)
}
