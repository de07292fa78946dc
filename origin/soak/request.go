package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/addrspec/addrspec/origin/origintest"
)

// A request is a single (one address by GET) or a batch (by POST).
type request struct {
	emails []string
	batch  bool
	once   string // Idempotency-Key, or ""
}

// cost returns the points of the request if all of it is charged.
func (r *request) cost() int64 { return int64(len(r.emails)) }

// text returns the request as it is sent.
func (r *request) text(key string, keepAlive bool) string {
	request := origintest.Request{Method: http.MethodGet, Header: []string{"X-API-Key: " + key}, KeepAlive: keepAlive}
	if r.once != "" {
		request = request.With("Idempotency-Key: " + r.once)
	}
	if r.batch {
		request = request.With("Content-Type: application/json")
		request.Method, request.Target, request.Body = http.MethodPost, "/v1/emails", r.body()
	} else {
		request.Target = "/v1/email/" + url.PathEscape(r.emails[0])
	}
	return request.Text("soak")
}

// body returns the body of a batch.
func (r *request) body() string {
	body, _ := json.Marshal(map[string][]string{"emails": r.emails}) // strings always encode
	return string(body)
}

// single returns a single about email.
func single(email string) request { return request{emails: []string{email}} }

// domainCount numbers new domains. It is global because the resolver is shared.
var domainCount atomic.Int64

// newEmail returns an address at a domain that was never looked up. The domain
// begins with prefix, for asNamed.
func newEmail(prefix string) string {
	return fmt.Sprintf("jane@%sfresh%d.bulk.example", prefix, domainCount.Add(1))
}

// newBatch returns a batch of new domains.
func newBatch(prefix string, size int) request {
	r := request{batch: true}
	for range size {
		r.emails = append(r.emails, newEmail(prefix))
	}
	return r
}

// usual returns a single about one of the usual domains.
func usual(n int) request { return single(fmt.Sprintf("user%d@d%d.bulk.example", n, n%domains)) }

// batchOf returns a batch of different addresses at the usual domains.
func batchOf(size, seed int) request {
	r := request{batch: true}
	for n := range size {
		r.emails = append(r.emails, fmt.Sprintf("user%d.%d@d%d.bulk.example", seed, n, (seed+n)%domains))
	}
	return r
}

// domains is the number of usual domains.
const domains = 40

// mixed returns singles and batches in turn. The look-up of some singles fails, so
// they cost nothing.
func mixed(client, n int) request {
	seed := client*1_000_000 + n
	switch n % 4 {
	case 0:
		return single(fmt.Sprintf("user%d@servfail.example", seed))
	case 1, 2:
		return single(fmt.Sprintf("user%d@d%d.bulk.example", seed, n%domains))
	}
	return batchOf(2+seed%9, seed)
}

// waiting returns singles and batches in turn that wait for the resolver.
func waiting(_, n int) request {
	if n%2 == 0 {
		return single(newEmail(silent))
	}
	return newBatch(silent, 1+n%mostWaiting)
}

// mostWaiting is the most addresses of a batch of waiting.
const mostWaiting = 9
