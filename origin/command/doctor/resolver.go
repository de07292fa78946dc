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
	return Check{"resolver", func(ctx context.Context) (string, error) {
		if len(servers) == 0 {
			var err error
			if servers, err = mx.SystemServers(); err != nil {
				return "", err
			}
		}
		problems := make([]error, len(servers))
		start := time.Now()
		var group sync.WaitGroup
		for n, server := range servers { // at once, so that a silent one takes no time from the others
			group.Go(func() { problems[n] = ask(ctx, server, timeout, domains) })
		}
		group.Wait()
		took := time.Since(start).Round(time.Microsecond)
		return fmt.Sprintf("%s: %s has none, a name below .invalid neither%s; %s", strings.Join(servers, ", "), domains.Without, domains.confirmed(), took), errors.Join(problems...)
	}}
}

// confirmed says, after the domains that have none, which have MX records.
func (d Domains) confirmed() string {
	if len(d.With) == 0 {
		return ""
	}
	return ", one of " + strings.Join(d.With, ", ") + " has MX"
}

// ask asks one resolver. Its errors name it.
func ask(ctx context.Context, server string, timeout time.Duration, domains Domains) error {
	r, err := mx.New(mx.Config{Servers: []string{server}, Timeout: timeout, WithMX: domains.With})
	if err != nil {
		return err
	}
	defer r.Close()
	if lies, undecided := r.Verify(ctx); lies != nil || undecided != nil {
		return fmt.Errorf("asked for %s: %w", strings.Join(domains.With, ", "), errors.Join(lies, undecided))
	}
	for _, known := range []struct {
		domain string
		wrong  string
	}{
		{domains.Without, "says that it has MX records: it makes up records, or --dns-without-mx names the wrong domain; use another resolver with --dns"},
		{strings.ToLower(rand.Text()) + ".invalid", "says that a name below .invalid has MX records: it makes up records; use another resolver with --dns"},
	} {
		found, err := r.Lookup(ctx, 0, known.domain)
		if err != nil {
			return fmt.Errorf("%s: %w", server, err)
		}
		if found.MX {
			return fmt.Errorf("%s: asked for %s, it %s", server, known.domain, known.wrong)
		}
	}
	return nil
}
