package webhook

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// A raw receiver handles connections by itself.
func rawReceiver(t *testing.T, config *tls.Config, handle func(net.Conn)) (url string) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	var under sync.WaitGroup
	under.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			under.Go(func() {
				defer conn.Close()
				if config != nil {
					conn = tls.Server(conn, config)
				}
				handle(conn)
			})
		}
	})
	t.Cleanup(func() { l.Close(); under.Wait() })
	return "https://" + l.Addr().String() + "/"
}

// drip writes text for as long as the client reads, slowly if pause is set, and
// returns how much it wrote.
func drip(conn net.Conn, text string, pause time.Duration) (written int64) {
	for {
		n, err := io.WriteString(conn, text)
		if written += int64(n); err != nil {
			return written
		}
		time.Sleep(pause) // real time: a receiver is slow on purpose
	}
}

// Each hostile receiver costs one attempt of bounded time and memory, and gets
// nothing but the message.
func TestHostileReceivers(t *testing.T) {
	var body atomic.Int64
	kilobyte := strings.Repeat("x", 1024)
	const (
		ok, none  = "HTTP/1.1 200 OK\r\n", "Content-Length: 0\r\n\r\n"
		early     = "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
		switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"
		soon      = 2 * time.Second // of attempts that get no response anyhow
	)
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	speaks := func(text string, then func(net.Conn)) func(net.Conn) {
		return func(conn net.Conn) { _, _ = io.WriteString(conn, text); then(conn) }
	}
	responds := func(text string, then func(net.Conn)) func(net.Conn) {
		return func(conn net.Conn) {
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			speaks(text, then)(conn)
		}
	}
	ends := func(net.Conn) {}
	dripping := func(conn net.Conn) { drip(conn, "a", 10*time.Millisecond) }
	endless := func(text string, written *atomic.Int64) func(net.Conn) {
		return func(conn net.Conn) {
			if n := drip(conn, text, 0); written != nil {
				written.Add(n)
			}
		}
	}
	for name, c := range map[string]struct {
		plain   bool // no TLS
		handle  func(net.Conn)
		words   string
		timeout time.Duration // 0 is patience
	}{
		"never begins TLS":     {true, silent, "no response in time", soon},
		"never responds":       {false, silent, "no response in time", soon},
		"closes at once":       {true, ends, "the connection failed", 0},
		"does not speak TLS":   {true, speaks(ok+none, silent), "does not use TLS", 0},
		"does not speak HTTP":  {false, responds("220 mail.example ESMTP\r\n", ends), "not HTTP", 0},
		"header drips":         {false, responds(ok, dripping), "no response in time", soon},
		"header has no end":    {false, responds(ok+"A: ", endless(kilobyte, nil)), "the connection failed", 0},
		"1xx without end":      {false, responds("", endless(early, nil)), "the connection failed", 0},
		"body drips":           {false, responds(ok+"\r\n", dripping), "HTTP 200", 2 * time.Second},
		"body has no end":      {false, responds(ok+"\r\n", endless(kilobyte, &body)), "HTTP 200", 0},
		"switches protocols":   {false, responds(switching, silent), "HTTP 101", 0},
		"status out of range":  {false, responds("HTTP/1.1 999 Odd\r\n"+none, ends), "HTTP 999", 0},
		"controls in a status": {false, responds("HTTP/1.1 500 \x1b[31m<b>\r\n"+none, ends), "HTTP 500", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, a := withCustomer(t, sqlite(t))
			config := f.receiver.TLS.Clone()
			config.NextProtos = nil
			if c.plain {
				config = nil
			}
			must(f.Set(f.ctx, a.id, rawReceiver(t, config, c.handle)))(t)
			s := f.replica(func(o *Options) { o.Timeout = cmp.Or(c.timeout, patience) }).Sender
			d := must(s.Test(f.ctx, a.id))(t)
			require.Contains(t, d.Status, c.words)
			require.Less(t, len(d.Status), 200)
		})
	}
	t.Cleanup(func() { require.Less(t, body.Load(), int64(8<<20), "the body was read") })
}

// The client's own timer may end an attempt before the context does.
func TestTimersOfTheClient(t *testing.T) {
	local := new(Local)
	client := newClient(newGuard(loopback), local, 200*time.Millisecond)
	client.Timeout = 0
	url := rawReceiver(t, nil, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	_, err := client.Do(must(http.NewRequest(http.MethodPost, url, nil))(t))
	require.ErrorContains(t, err, "TLS handshake timeout")
	require.Equal(t, "no response in time", explain(t.Context(), err).words)
}

// A redirect is a failure, and its target gets no connection.
func TestRedirectsAreNotFollowed(t *testing.T) {
	f := newFixture(t, sqlite(t))
	var hits atomic.Int64
	leads := rawReceiver(t, nil, func(net.Conn) { hits.Add(1) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		f.receiver.respond = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, leads, status) }
		d := must(f.Test(f.ctx, f.account(fmt.Sprint(status), 10).id))(t)
		require.Contains(t, d.Status, fmt.Sprintf("failed: HTTP %d, a redirect", status))
	}
	require.Zero(t, hits.Load())
}

// A certificate that the system does not trust, and one for another name, end the
// attempt before anything is sent.
func TestCertificatesAreVerified(t *testing.T) {
	f, c := withCustomer(t, sqlite(t))
	untrusting := f.replica(func(o *Options) { o.Local.Roots = nil })
	d := must(untrusting.Test(f.ctx, c.id))(t)
	require.Contains(t, d.Status, "certificate is not valid")

	c = f.account("other", 10)
	resolver, _ := nameServer(t, func(int) string { return "127.0.0.1" })
	must(f.Set(f.ctx, c.id, "https://hooks.example.net:"+f.port()))(t)
	d = must(f.replica(func(o *Options) { o.Local.Resolver = resolver }).Test(f.ctx, c.id))(t)
	require.Contains(t, d.Status, "certificate is not valid")
	require.Empty(t, f.receiver.requests())
}

func (f *fixture) port() string {
	_, port, err := net.SplitHostPort(f.receiver.Listener.Addr().String())
	require.NoError(f, err)
	return port
}

// nameServer runs a DNS server that responds to the n-th query for an address of its
// kind with respond(n), and returns a resolver that asks it, and its count.
func nameServer(t *testing.T, respond func(n int) string) (*net.Resolver, *atomic.Int64) {
	var asked atomic.Int64
	conn := must(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		r := new(dns.Msg)
		r.SetReply(q)
		ip := netip.MustParseAddr(respond(int(asked.Load())))
		switch {
		case q.Question[0].Qtype == dns.TypeA && ip.Is4():
			asked.Add(1)
			r.Answer = []dns.RR{&dns.A{Hdr: header(q), A: ip.AsSlice()}}
		case q.Question[0].Qtype == dns.TypeAAAA && ip.Is6():
			asked.Add(1)
			r.Answer = []dns.RR{&dns.AAAA{Hdr: header(q), AAAA: ip.AsSlice()}}
		}
		_ = w.WriteMsg(r)
	})}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}
	return &net.Resolver{PreferGo: true, Dial: dial}, &asked
}

func header(q *dns.Msg) dns.RR_Header {
	return dns.RR_Header{Name: q.Question[0].Name, Rrtype: q.Question[0].Qtype, Class: dns.ClassINET}
}

// A name that resolves to an allowed address at first and to a local one later
// gains nothing: every connection is checked. 127.0.0.2 is the allowed one, so the
// test needs no network; nothing listens there. The same name reaches the receiver
// where the test allows its address, so the guard is what stops it.
func TestRebinding(t *testing.T) {
	f, c := withCustomer(t, sqlite(t))
	must(f.Set(f.ctx, c.id, "https://example.com:"+f.port()))(t) // a name in the receiver's certificate
	resolver, asked := nameServer(t, func(n int) string { return []string{"127.0.0.2", "127.0.0.1", "127.0.0.1"}[min(n, 2)] })
	guarded := func(o *Options) {
		o.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}
		o.Local = &Local{Roots: f.receiver.roots(), Resolver: resolver}
		o.Retries = []time.Duration{time.Millisecond, time.Millisecond}
	}
	c.use(8)
	stop := f.replica(guarded).run()
	require.Equal(t, "abandoned after 3 attempts: the host's name leads to an address that is not public", c.await(1)[0].Status)
	stop()
	require.GreaterOrEqual(t, asked.Load(), int64(3))
	require.Empty(t, f.receiver.requests())

	d := must(f.replica(func(o *Options) { o.Local.Resolver = resolver }).Test(f.ctx, c.id))(t)
	require.True(t, d.Delivered)
}

// special are addresses of every kind that is not public.
var special = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.8.8.8", "169.254.169.254", "172.16.0.1", "172.31.255.255",
	"192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
	"240.0.0.1", "255.255.255.255", "168.63.129.16",
	"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "100::1",
	"2001::1", "2001:db8::1", "2001:10::1", "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
}

// No address that is not public is connected to, whatever name leads to it, and
// none is accepted as a host.
func TestSpecialAddresses(t *testing.T) {
	for _, text := range special {
		ip := netip.MustParseAddr(text)
		resolver, asked := nameServer(t, func(int) string { return text })
		client := newClient(newGuard(nil), &Local{Resolver: resolver}, patience)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		request := must(http.NewRequestWithContext(ctx, http.MethodPost, "https://hooks.example.com/", nil))(t)
		_, err := client.Do(request)
		require.Error(t, err)
		require.Contains(t, explain(ctx, err).words, "not public", text)
		require.EqualValues(t, 1, asked.Load(), text)
		cancel()

		host := text
		if ip.Is6() {
			host = "[" + text + "]"
		}
		_, err = acceptURL("https://"+host+"/", newGuard(nil))
		require.ErrorIs(t, err, ErrURL, text)
	}
}

// The environment's proxy is ignored: it would connect to any address.
func TestProxyIsIgnored(t *testing.T) {
	var hits atomic.Int64
	proxy := rawReceiver(t, nil, func(net.Conn) { hits.Add(1) })
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"} {
		t.Setenv(name, strings.Replace(proxy, "https", "http", 1))
	}
	f, c := withCustomer(t, sqlite(t))
	resolver, _ := nameServer(t, func(int) string { return "127.0.0.1" })
	must(f.Set(f.ctx, c.id, "https://example.com:"+f.port()))(t)
	d := must(f.replica(func(o *Options) { o.Local.Resolver = resolver }).Test(f.ctx, c.id))(t)
	require.True(t, d.Delivered, d.Status)
	require.Zero(t, hits.Load())

	request := must(http.NewRequestWithContext(f.ctx, http.MethodGet, "https://example.com:"+f.port(), nil))(t)
	_, err := new(http.Client).Do(request) // uses the proxy, so the environment above counts
	require.Error(t, err)
	require.NotZero(t, hits.Load())
}
