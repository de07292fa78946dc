package mx

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

const (
	maxServers     = 8
	resolvConf     = "/etc/resolv.conf"
	startUpTimeout = 5 * time.Second // to look up the address of a resolver given by host name
)

// parseServers parses the addresses of the resolvers. Without any it uses those
// in /etc/resolv.conf.
func parseServers(addresses []string) ([]*server, error) {
	if len(addresses) == 0 {
		var err error
		if addresses, err = systemServers(resolvConf); err != nil {
			return nil, err
		}
	}
	if len(addresses) > maxServers {
		return nil, fmt.Errorf("mx: %d resolvers are given, %d at most; keep the nearest", len(addresses), maxServers)
	}
	servers := make([]*server, len(addresses))
	for i, text := range addresses {
		address, err := parseServer(text)
		if err == nil {
			servers[i], err = newServer(address)
		}
		if err != nil {
			return nil, fmt.Errorf("mx: resolver address %q: %w; write host:port, such as 127.0.0.1:53 or [::1]:53", text, err)
		}
	}
	return servers, nil
}

// systemServers reads the addresses from a file in the format of resolv.conf(5).
func systemServers(path string) ([]string, error) {
	c, err := dns.ClientConfigFromFile(path)
	if err != nil || len(c.Servers) == 0 {
		return nil, fmt.Errorf("mx: %s lists no resolver; set one with --dns host:port", path)
	}
	addresses := make([]string, len(c.Servers))
	for i, host := range c.Servers {
		addresses[i] = net.JoinHostPort(host, c.Port)
	}
	return addresses[:min(len(addresses), maxServers)], nil
}

// parseServer parses host:port. A host name is looked up here, once, so that no
// query waits for that.
func parseServer(text string) (string, error) {
	if a, err := netip.ParseAddrPort(text); err == nil {
		return a.String(), checkPort(a.Port())
	}
	host, service, err := net.SplitHostPort(text)
	if err != nil {
		return "", errors.New("not host:port")
	}
	port, err := net.LookupPort("udp", service)
	if err != nil {
		return "", fmt.Errorf("%q is not a port", service)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startUpTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return "", fmt.Errorf("no address found for host %q", host)
	}
	return net.JoinHostPort(found[0], fmt.Sprint(port)), checkPort(uint16(port))
}

func checkPort(port uint16) error {
	if port == 0 {
		return errors.New("port 0 is not allowed")
	}
	return nil
}

// SystemServers returns the addresses of the resolvers in /etc/resolv.conf.
func SystemServers() ([]string, error) { return systemServers(resolvConf) }
