package mx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// server is one recursive resolver.
type server struct {
	address   string                    // host:port, the host an IP address
	udp       *net.UDPAddr              // the same
	lateUntil atomic.Pointer[time.Time] // nil if it never was late
	verdict   atomic.Int32              // of Verify; see unverified
}

// penalty is how long a late server is asked after the others.
const penalty = 30 * time.Second

func (s *server) markLate() {
	until := time.Now().Add(penalty)
	s.lateUntil.Store(&until)
}

// inOrder returns the servers in the order to ask: as configured, but late ones last.
func inOrder(servers []*server) []*server {
	now := time.Now()
	order := make([]*server, 0, len(servers))
	var late []*server
	for _, s := range servers {
		if until := s.lateUntil.Load(); until != nil && now.Before(*until) {
			late = append(late, s)
		} else {
			order = append(order, s)
		}
	}
	return append(order, late...)
}

// servers are those of a Resolver, in the order in which they are configured: fixed, or those
// of a file.
type servers struct {
	list atomic.Pointer[[]*server]
	log  *slog.Logger

	file     string     // "" if the servers are fixed
	mu       sync.Mutex // held while the file is read; guards what is below
	looked   time.Time  // when the file was last looked at
	modified time.Time  // the file's time then; zero if it was missing
}

const (
	maxServers = 8
	lookAgain  = 5 * time.Second // how often the file is looked at, at most
)

func newServers(c Config) (*servers, error) {
	v := &servers{log: c.Log}
	if len(c.Servers) > maxServers {
		return nil, fmt.Errorf("mx: %d resolvers are given, %d at most; keep the nearest", len(c.Servers), maxServers)
	}
	if len(c.Servers) == 0 {
		v.file = c.resolvConf
		info, err := os.Stat(v.file)
		if err == nil {
			v.modified = info.ModTime()
		}
		list, err := readServers(v.file, v.log)
		v.set(list)
		return v, err
	}
	list := make([]netip.AddrPort, len(c.Servers))
	for n, text := range c.Servers {
		at, err := parseServer(text)
		if err != nil {
			return nil, fmt.Errorf("mx: resolver address %q: %w; write host:port, such as 127.0.0.1:53 or [::1]:53", text, err)
		}
		list[n] = at
	}
	v.set(list)
	return v, nil
}

// set replaces the servers. What is known of those that stay is kept.
func (v *servers) set(list []netip.AddrPort) (changed bool) {
	var before, now []*server
	if known := v.list.Load(); known != nil {
		before = *known
	}
	for _, at := range list {
		same := func(s *server) bool { return s.address == at.String() }
		if slices.ContainsFunc(now, same) {
			continue // named twice
		}
		if n := slices.IndexFunc(before, same); n >= 0 {
			now = append(now, before[n])
		} else {
			now = append(now, &server{address: at.String(), udp: net.UDPAddrFromAddrPort(at)})
		}
	}
	v.list.Store(&now)
	return !slices.Equal(before, now)
}

func (v *servers) current() []*server { return *v.list.Load() }

// reload reads the file again if its time has changed, and reports whether that changed the
// servers. Unless at is once, it does so only if the file was not looked at lately. A file that
// is missing or cannot be read leaves the servers as they are.
func (v *servers) reload(atOnce bool) (changed bool) {
	if v.file == "" {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !atOnce && time.Since(v.looked) < lookAgain {
		return false
	}
	v.looked = time.Now()
	var modified time.Time
	info, err := os.Stat(v.file)
	if err == nil {
		modified = info.ModTime()
	}
	if modified.Equal(v.modified) && !atOnce {
		return false
	}
	v.modified = modified
	var list []netip.AddrPort
	if err == nil {
		list, err = readServers(v.file, v.log)
	}
	if err != nil {
		v.log.Warn("the resolvers remain those of before", "error", err.Error())
		return false
	}
	changed = v.set(list)
	if changed {
		v.log.Info("the resolvers have changed", "file", v.file, "resolvers", list)
	}
	return changed
}

// SystemServers returns the addresses of the resolvers in /etc/resolv.conf.
func SystemServers() ([]string, error) {
	list, err := readServers(resolvConf, slog.New(slog.DiscardHandler))
	addresses := make([]string, len(list))
	for n, at := range list {
		addresses[n] = at.String()
	}
	return addresses, err
}

const (
	resolvConf = "/etc/resolv.conf"
	dnsPort    = 53
)

// readServers reads a file in the format of resolv.conf(5). If it is missing or names no
// server, the server is the one of this machine. A malformed line is skipped.
func readServers(file string, log *slog.Logger) (list []netip.AddrPort, err error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("mx: %w; make it readable, or set resolvers with --dns HOST:PORT", err)
	}
	for n, line := range strings.Split(string(text), "\n") {
		fields := append(strings.Fields(line), "", "")
		if fields[0] != "nameserver" {
			continue
		}
		ip, err := netip.ParseAddr(fields[1])
		if err != nil {
			log.Warn("skipped a line that names no resolver: write nameserver and its IP address",
				"file", file, "line", n+1)
			continue
		}
		list = append(list, netip.AddrPortFrom(ip, dnsPort))
	}
	if len(list) == 0 {
		list = append(list, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), dnsPort))
	}
	return list[:min(len(list), maxServers)], nil
}

const startUpTimeout = 5 * time.Second // to look up the address of a resolver given by host name

// parseServer parses host:port, or a host, whose port is 53. A host name is looked up here,
// once, so that no query waits for that.
func parseServer(text string) (netip.AddrPort, error) {
	host, service, err := net.SplitHostPort(text)
	if err != nil { // no port
		host, service = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), strconv.Itoa(dnsPort)
	}
	port, err := net.LookupPort("udp", service)
	if err != nil || port == 0 {
		return netip.AddrPort{}, fmt.Errorf("%q is not a port", service)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), startUpTimeout)
		defer cancel()
		found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil || len(found) == 0 {
			return netip.AddrPort{}, fmt.Errorf("no address found for host %q", host)
		}
		ip = found[0].Unmap()
	}
	return netip.AddrPortFrom(ip, uint16(port)), nil
}
