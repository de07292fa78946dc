package dashboard

import (
	"container/list"
	"context"
	"net/http"
	"path"
	"strconv"
	"sync"
	"time"
)

// Bounds of the requests for pages. They keep pages from slowing the API.
const (
	maxRequests = 32                     // in progress at a time, until the response is in memory; as many that need no database
	maxWait     = 500 * time.Millisecond // for one of these slots
	maxTime     = 20 * time.Second       // of one request
	maxForm     = 64 << 10               // bytes of a form
	maxUnsent   = 32 << 20               // bytes of pages whose clients have not read them
	sendTime    = 10 * time.Second       // for a client to read a page
)

// ServeHTTP serves a request for a page.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.setSecurityHeaders(w.Header())
	at := newPlace(w, r)
	defer at.leave()
	w, r = &response{w, at}, r.WithContext(at.within(r.Context()))
	r, p := d.receive(w, r)
	if p != nil {
		d.fail(w, r, p)
		return
	}
	slots := d.slotsFor(r)
	if !acquire(r.Context(), slots) {
		d.fail(w, r, errBusy)
		return
	}
	at.release = func() { <-slots }
	if path.Clean(r.URL.Path) != r.URL.Path {
		d.notFound(w, r) // http.ServeMux would redirect
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxTime)
	defer cancel()
	d.mux.ServeHTTP(w, r.WithContext(ctx))
}

// Has reports whether a request is for a page or an asset.
func (d *Dashboard) Has(r *http.Request) bool {
	if path.Clean(r.URL.Path) != r.URL.Path {
		return false
	}
	_, pattern := d.mux.Handler(r)
	return pattern != "/"
}

// slotsFor returns the slots for r. Pages that need no database have their own, so
// that they are shown while all others wait for it.
func (d *Dashboard) slotsFor(r *http.Request) chan struct{} {
	if _, pattern := d.mux.Handler(r); d.alone[pattern] {
		return d.reading
	}
	return d.requests
}

// acquire waits for a slot for at most maxWait.
func acquire(ctx context.Context, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
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
// for the client's download, tests of webhooks for the receiver, some sign-ins for
// the OpenID provider. They leave their slot among the pages for one of their own
// kind, so pages never wait for them.
const (
	maxChecks      = 64       // in progress at a time
	maxChecksEach  = 8        // of one account
	maxCheckMemory = 64 << 20 // bytes of their responses, estimated
	maxExports     = 32       // the ledger sums for one at a time
	maxExportsEach = 1
	maxTests       = 16 // of webhooks
	maxTestsEach   = 1
	maxSignIns     = 32          // that wait for the OpenID provider
	maxSignInsEach = 8           // of one network
	busyWait       = time.Second // until a client should try again
)

// slots limits the requests of a kind, in all and for each of their owners, such as
// accounts, and the memory of all. An owner gets at most a third of the slots that
// are free: n owners that take all they can get leave (3/4)^n of them to others.
type slots struct {
	all, each int
	memory    int64
	crowded   *problem // for an owner that has its share

	mu     sync.Mutex
	taken  int
	free   int64 // of memory
	owners map[string]int
}

func newSlots(all, each int, memory int64, crowded *problem) *slots {
	return &slots{all: all, each: each, memory: memory, crowded: crowded, free: memory, owners: map[string]int{}}
}

// take takes a slot and memory. If the owner or the service has none left, it
// returns a problem instead.
func (s *slots) take(owner string, memory int64) (release func(), p *problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch own, left := s.owners[owner], s.all-s.taken; {
	case own >= s.each:
		return nil, s.crowded
	case left == 0 || s.free < memory:
		return nil, errBusy
	case 3*own >= left:
		return nil, s.crowded
	}
	s.taken++
	s.free -= memory
	s.owners[owner]++
	return func() { s.release(owner, memory) }, nil
}

func (s *slots) release(owner string, memory int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.free += memory
	if s.owners[owner]--; s.owners[owner] == 0 {
		delete(s.owners, owner)
	}
}

// The problems of requests that get no slot.
var (
	errBusy = &problem{status: http.StatusServiceUnavailable, code: "BUSY", wait: busyWait, input: true,
		sentence: "Many people use the dashboard at the moment. Try again in a few seconds."}
	errBusyAccount = &problem{status: http.StatusTooManyRequests, code: "BUSY_ACCOUNT", wait: busyWait, input: true,
		sentence: "Several requests of this account are in progress in the dashboard. Try again when one has finished."}
	errBusyNetwork = &problem{status: http.StatusTooManyRequests, code: "BUSY_NETWORK", wait: busyWait,
		sentence: "Many requests from your network are in progress at the moment. Try again in a few seconds."}
)

// A place is the slot that a request has.
type place struct {
	ctx     context.Context // of the connection, without the time limit of pages
	release func()          // of the slot
	keep    func()          // the connection, while the response is sent
	stays   bool            // the slot is held until the response is sent
}

func newPlace(w http.ResponseWriter, r *http.Request) *place {
	at := &place{ctx: r.Context(), release: func() {}, keep: func() {}}
	if w, ok := w.(interface{ KeepConnection() }); ok { // the API's, see its servePage
		at.keep = w.KeepConnection
	}
	return at
}

type placeKey struct{}

// within returns ctx with the place.
func (p *place) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, placeKey{}, p)
}

func placeOf(ctx context.Context) *place { return ctx.Value(placeKey{}).(*place) }

func (p *place) leave() {
	p.release()
	p.release = func() {}
}

// stay holds the slot until the response is sent, which is for what an account
// has charged or reads from the database meanwhile.
func (p *place) stay() {
	p.stays = true
	p.keep()
}

// move exchanges the visit's slot for one of another kind, and returns a context
// that has no time limit.
func (v *visit) move(to *slots, of string, memory int64) (context.Context, *problem) {
	release, p := to.take(of, memory)
	if p != nil {
		return nil, p
	}
	at := placeOf(v.r.Context())
	at.leave()
	at.release = release
	return at.ctx, nil
}

// account names the visit's account among those that have slots.
func (v *visit) account() string { return strconv.FormatInt(v.user.Account, 10) }

// A response leaves its request's slot when its first byte is written: it is in
// memory then, and a client that does not read it must keep nobody from a page.
type response struct {
	http.ResponseWriter
	at *place
}

func (w *response) WriteHeader(status int) {
	w.begin()
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(p)
}

func (w *response) begin() {
	if !w.at.stays {
		w.at.leave()
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// unsent bounds the memory of the pages that are being sent. Beyond the limit, the
// responses that began first are cut off: their clients read slowest. A page for a
// client that reads is rarely here, since it fits into the connection's buffers.
type unsent struct {
	limit int64

	mu    sync.Mutex
	bytes int64
	pages list.List // of *unsentPage, the one that began first at the front
}

type unsentPage struct {
	bytes   int64
	control *http.ResponseController
}

// send writes a page. An error means that the client has disconnected or was cut
// off, and net/http closes the connection.
func (u *unsent) send(w http.ResponseWriter, page []byte) {
	added := u.add(&unsentPage{int64(cap(page)), http.NewResponseController(w)})
	defer u.remove(added)
	_, _ = w.Write(page)
}

func (u *unsent) add(page *unsentPage) *list.Element {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes += page.bytes
	added := u.pages.PushBack(page)
	for at := u.pages.Front(); u.bytes > u.limit && at != added; at = u.pages.Front() {
		_ = at.Value.(*unsentPage).control.SetWriteDeadline(time.Unix(1, 0)) // ends the write
		u.drop(at)
	}
	return added
}

func (u *unsent) remove(at *list.Element) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.drop(at)
}

func (u *unsent) drop(at *list.Element) {
	if page := at.Value.(*unsentPage); page.control != nil {
		u.bytes -= page.bytes
		u.pages.Remove(at)
		page.control = nil // it was removed
	}
}
