package dashboard

import (
	"net/http"
	"net/netip"
	"strings"
)

// callerAddress returns the network whose attempts are counted together: an IPv4
// address, or an IPv6 /64, which one subscriber has. X-Forwarded-For is believed
// as far as trusted proxies have written it.
func (d *Dashboard) callerAddress(r *http.Request) string {
	at := parseAddress(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && d.trusts(at); i-- {
		hop := parseAddress(strings.TrimSpace(hops[i]))
		if !hop.IsValid() {
			break
		}
		at = hop
	}
	if at.Is6() {
		network, _ := at.WithZone("").Prefix(64)
		return network.String()
	}
	return at.String()
}

func (d *Dashboard) trusts(at netip.Addr) bool {
	for _, network := range d.TrustedProxies {
		if at.IsValid() && network.Contains(at.WithZone("")) {
			return true
		}
	}
	return false
}

// parseAddress parses an address with or without a port.
func parseAddress(text string) netip.Addr {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap()
	}
	at, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	return at.Unmap()
}
