package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"

	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/dashboard"
	"github.com/addrspec/addrspec/origin/identity"
)

// publicURLFlag is where browsers reach the service.
type publicURLFlag struct {
	PublicURL string `name:"public-url" placeholder:"URL" help:"Where browsers reach the service, such as https://addrspec.example. It decides links, Secure cookies and the name that passkeys are bound to (default: http://localhost with the port of --listen)."`
}

// dashboardFlags configure the pages.
type dashboardFlags struct {
	publicURLFlag

	openIDFlags

	Dashboard    string   `enum:"on,off" default:"on" help:"Serve the front door, the documentation and the account dashboard: on or off (${default})."`
	TrustedProxy []string `placeholder:"CIDR" help:"Networks of proxies whose X-Forwarded-For is believed when attempts to sign in are counted, separated by commas."`
	SignUp       string   `name:"signup" enum:"closed,open" default:"closed" help:"Whether anybody may create an account on the free plan: closed or open (${default})."`
	Webhooks     string   `enum:"on,off" default:"on" help:"Send webhooks to accounts that have used 80 or 100 %% of their points: on or off (${default}). Off with --dashboard=off."`
}

// publicURL returns the URL of the flag, or that of this machine.
func (f *publicURLFlag) publicURL(port string) (*url.URL, error) {
	if f.PublicURL == "" {
		return &url.URL{Scheme: "http", Host: net.JoinHostPort("localhost", port)}, nil
	}
	u, err := url.Parse(f.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return nil, usageError{fmt.Errorf("--public-url %q must be http or https and a host, without a path, such as https://addrspec.example", f.PublicURL)}
	}
	u.Path = ""
	return u, nil
}

// portOf returns the port of a listener's address.
func portOf(at net.Addr) string {
	_, port, _ := net.SplitHostPort(at.String())
	return port
}

// trustedProxies parses the networks.
func (f *dashboardFlags) trustedProxies() (list []netip.Prefix, err error) {
	for _, text := range f.TrustedProxy {
		network, err := netip.ParsePrefix(text)
		if address, notNetwork := netip.ParseAddr(text); notNetwork == nil {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return nil, usageError{fmt.Errorf("--trusted-proxy %q is not a network, such as 10.0.0.0/8", text)}
		}
		list = append(list, network.Masked())
	}
	return list, nil
}

// pages returns the handler of the pages, nil if the dashboard is off.
func (f *dashboardFlags) pages(o *origin, log *slog.Logger, at net.Addr) (api.Pages, error) {
	if f.Dashboard == "off" {
		return nil, nil
	}
	public, err := f.publicURL(portOf(at))
	if err != nil {
		return nil, err
	}
	proxies, err := f.trustedProxies()
	if err != nil {
		return nil, err
	}
	return dashboard.New(dashboard.Config{Ledger: o.ledger, Identity: identity.New(o.ledger), API: o.api, Log: log,
		PublicURL: public, TrustedProxies: proxies, SignUp: f.SignUp == "open", OpenID: f.openID(public), Release: release, Health: o.health, Webhooks: o.hooks(log),
		OpenAPI: api.Description()})
}
