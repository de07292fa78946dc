package dashboard

import (
	"context"
	"net/http"
	"path"
	"sync"
	"time"
)

// Bounds of the requests for pages. They keep pages from slowing the API.
const (
	maxRequests = 32                     // in progress at a time
	maxWait     = 500 * time.Millisecond // for one of these slots
	maxTime     = 20 * time.Second       // of one request
	maxForm     = 64 << 10               // bytes of a form
)

// ServeHTTP serves a request for a page.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.setSecurityHeaders(w.Header())
	r, p := d.receive(w, r)
	if p != nil {
		d.fail(w, r, p)
		return
	}
	if !d.acquire(r.Context()) {
		d.fail(w, r, errBusy)
		return
	}
	at := &place{ctx: r.Context(), release: func() { <-d.requests }}
	defer at.leave()
	if path.Clean(r.URL.Path) != r.URL.Path {
		d.notFound(w, r) // http.ServeMux would redirect
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxTime)
	defer cancel()
	d.mux.ServeHTTP(w, r.WithContext(at.within(ctx)))
}

// Has reports whether a request is for a page or an asset.
func (d *Dashboard) Has(r *http.Request) bool {
	if path.Clean(r.URL.Path) != r.URL.Path {
		return false
	}
	_, pattern := d.mux.Handler(r)
	return pattern != "/"
}

// acquire waits for a slot for at most maxWait.
func (d *Dashboard) acquire(ctx context.Context) bool {
	select {
	case d.requests <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-time.After(maxWait):
	}
	return false
}

// page returns the handler of GET for a route.
func (d *Dashboard) page(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := d.visit(w, r, route)
		if err != nil {
			d.refuse(v, err)
			return
		}
		data, err := route.get(v)
		if err != nil {
			d.refuse(v, err)
			return
		}
		if elsewhere, ok := data.(*outcome); ok {
			elsewhere.send(v, route)
			return
		}
		v.render(http.StatusOK, route, data, nil)
	})
}

// action returns the handler of POST for a route. A problem with the input shows
// the page again, with the sentence that says what to do.
func (d *Dashboard) action(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := d.visit(w, r, route)
		if err == nil {
			err = d.guard(v)
		}
		if err != nil {
			d.refuse(v, err)
			return
		}
		done, err := route.post(v)
		if err != nil {
			d.refuseInput(v, route, err)
			return
		}
		done.send(v, route)
	})
}

// refuseInput shows the route's page with a problem that the caller can mend.
func (d *Dashboard) refuseInput(v *visit, route route, err error) {
	p := problemOf(err)
	if !p.input || v.json {
		d.refuse(v, err)
		return
	}
	data, failed := route.get(v)
	if failed != nil {
		d.refuse(v, failed)
		return
	}
	v.render(p.status, route, data, p)
}

func (d *Dashboard) methodNotAllowed(allow string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		d.fail(w, r, &problem{status: http.StatusMethodNotAllowed, code: "METHOD_NOT_ALLOWED", sentence: "This path accepts " + allow + " only."})
	})
}

func (d *Dashboard) notFound(w http.ResponseWriter, r *http.Request) {
	d.fail(w, r, errNotFound)
}

// Bounds of requests that take longer than a page: checks wait for DNS, exports
// for the client's download. They leave their slot among the pages for one of
// their own kind, so pages never wait for them.
const (
	maxChecks      = 64       // in progress at a time
	maxChecksEach  = 8        // of one account
	maxCheckMemory = 64 << 20 // bytes of their responses, estimated
	maxExports     = 4
	maxExportsEach = 1
	busyWait       = time.Second // until a client should try again
)

// slots limits the requests of a kind, in all and for each account, and the memory
// of all.
type slots struct {
	all, each int
	memory    int64

	mu       sync.Mutex
	taken    int
	free     int64 // of memory
	accounts map[int64]int
}

func newSlots(all, each int, memory int64) *slots {
	return &slots{all: all, each: each, memory: memory, free: memory, accounts: map[int64]int{}}
}

// take takes a slot and memory. If the account or the service has none left, it
// returns a problem instead.
func (s *slots) take(account, memory int64) (release func(), p *problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.accounts[account] >= s.each:
		return nil, errBusyAccount
	case s.taken >= s.all || s.free < memory:
		return nil, errBusy
	}
	s.taken++
	s.free -= memory
	s.accounts[account]++
	return func() { s.release(account, memory) }, nil
}

func (s *slots) release(account, memory int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.free += memory
	if s.accounts[account]--; s.accounts[account] == 0 {
		delete(s.accounts, account)
	}
}

// The problems of requests that get no slot.
var (
	errBusy = &problem{status: http.StatusServiceUnavailable, code: "BUSY", wait: busyWait, input: true,
		sentence: "Many people use the dashboard at the moment. Try again in a few seconds."}
	errBusyAccount = &problem{status: http.StatusTooManyRequests, code: "BUSY_ACCOUNT", wait: busyWait, input: true,
		sentence: "Several requests of this account are in progress in the dashboard. Try again when one has finished."}
)

// A place is the slot that a request has.
type place struct {
	ctx     context.Context // of the connection, without the time limit of pages
	release func()
}

type placeKey struct{}

// within returns ctx with the place.
func (p *place) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, placeKey{}, p)
}

func (p *place) leave() { p.release() }

// move exchanges the visit's slot for one of another kind, and returns a context
// that has no time limit.
func (v *visit) move(to *slots, memory int64) (context.Context, *problem) {
	release, p := to.take(v.user.Account, memory)
	if p != nil {
		return nil, p
	}
	at := v.r.Context().Value(placeKey{}).(*place)
	at.release()
	at.release = release
	return at.ctx, nil
}
