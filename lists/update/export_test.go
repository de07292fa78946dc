package update

import (
	"context"
	"net/http"
	"time"
)

// Use makes the source use a client that trusts a test's server, with our rule
// for redirects.
func (s *Source) Use(c *http.Client) {
	client := *c
	client.CheckRedirect = checkRedirect
	s.client = &client
}

// Within limits the time for one file.
func (s *Source) Within(d time.Duration) { s.within = d }

// Poll looks at the file once.
func (k *Keeper) Poll(now time.Time) { k.poll(context.Background(), now) }

// Wait returns the time to the next look at the feed.
func (k *Keeper) Wait(failures int) time.Duration { return k.wait(failures) }
