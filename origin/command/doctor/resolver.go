package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/mx"
)

// Domains has names whose responses are known.
type Domains struct {
	With    []string // publish MX records; see mx.Config.WithMX
	Without string   // publishes none: it does not exist, or has a null MX record (RFC 7505)
}

// Resolver asks each resolver for domains that have MX records, for one that has
// none, and for one that cannot exist: a name below .invalid (RFC 6761 section 6.4).
// A resolver that makes up records would make every domain one that takes mail.
func Resolver(servers []string, timeout time.Duration, domains Domains) Check {
	return Check{"resolver", func(ctx context.Context) (detail string, err error) {
		if len(servers) == 0 {
			servers, err = mx.SystemServers()
			if err != nil {
				return "", err
			}
		}
		problems := make([]error, len(servers))
		start := time.Now()
		var group sync.WaitGroup
		for n, server := range servers { // at once, so that a silent one takes no time from the others
			group.Go(func() { problems[n] = domains.askOf(ctx, server, timeout) })
		}
		group.Wait()
		with := ""
		if len(domains.With) > 0 {
			with = ", one of " + strings.Join(domains.With, ", ") + " has MX"
		}
		return fmt.Sprintf("%s: %s has none, a name below .invalid neither%s; %s", strings.Join(servers, ", "),
			domains.Without, with, time.Since(start).Round(time.Microsecond)), errors.Join(problems...)
	}}
}

// askOf asks one resolver. Its errors name the resolver.
func (d Domains) askOf(ctx context.Context, server string, timeout time.Duration) error {
	r, err := mx.New(mx.Config{Servers: []string{server}, Timeout: timeout, WithMX: d.With})
	if err != nil {
		return err
	}
	defer r.Close()
	if lies, undecided := r.Verify(ctx); lies != nil || undecided != nil {
		return fmt.Errorf("asked for %s: %w", strings.Join(d.With, ", "), errors.Join(lies, undecided))
	}
	for domain, wrong := range map[string]string{
		d.Without: "says that it has MX records: it makes up records, or --dns-without-mx names the wrong domain",
		strings.ToLower(rand.Text()) + ".invalid": "says that a name below .invalid has MX records: it " +
			"makes up records",
	} {
		found, err := r.Lookup(ctx, 0, domain)
		if err != nil {
			return fmt.Errorf("%s: %w", server, err)
		}
		if found.MX {
			return fmt.Errorf("%s: asked for %s, it %s; use another resolver with --dns", server, domain, wrong)
		}
	}
	return nil
}
