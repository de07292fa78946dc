package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/mx"
)

// lookUp asks for the MX of a domain; an address literal has none to ask for.
func (s *Server) lookUp(ctx context.Context, domain string) (bool, error) {
	if domain == "" {
		return false, nil
	}
	return s.Resolver.Lookup(ctx, domain)
}

// timedOut tells the two ways apart in which a look-up fails.
func timedOut(err error) bool {
	var failure *mx.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &failure) && failure.Kind == mx.Timeout
}

// dnsUnavailable is the single operation's answer to a look-up that failed.
func dnsUnavailable(err error) *fault {
	if timedOut(err) {
		return unavailable("The DNS look-up of the domain timed out, so its MX is not known; nothing was charged. Try again shortly.")
	}
	return unavailable("The DNS look-up of the domain failed, so its MX is not known; nothing was charged. Try again shortly.")
}

// itemError is the batch's word for the same.
func itemError(err error, domain string) (code, message string) {
	if timedOut(err) {
		return "DNS_TIMEOUT", "DNS look-up timed out for domain " + domain
	}
	return "DNS_FAILURE", "DNS look-up failed for domain " + domain
}

func waitForRefill(d time.Duration) string {
	return fmt.Sprintf("wait %d s until they refill, or change the plan.", wholeSeconds(d))
}
