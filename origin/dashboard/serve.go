package dashboard

import (
	"context"
	"net/http"
	"path"
	"time"
)

// Bounds of the requests for pages. They keep pages from slowing the API.
const (
	maxRequests = 32                     // under way at a time
	maxWait     = 500 * time.Millisecond // for one of these slots
	maxTime     = 20 * time.Second       // of one request
	maxForm     = 64 << 10               // bytes of a form
)

// ServeHTTP answers a request for a page.
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
		d.fail(w, r, &problem{status: http.StatusMethodNotAllowed, code: "METHOD_NOT_ALLOWED", sentence: "This path answers " + allow + " only."})
	})
}

func (d *Dashboard) notFound(w http.ResponseWriter, r *http.Request) {
	d.fail(w, r, errNotFound)
}
