package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/addrspec/addrspec/origin/origintest"
)

// A request is one address by GET, or a batch by POST.
type request struct {
	emails []string
	batch  bool
	once   string // Idempotency-Key
}

// cost is what the request costs when all of it is answered.
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

// body is that of a batch.
func (r *request) body() string {
	body, _ := json.Marshal(map[string][]string{"emails": r.emails}) // strings always encode
	return string(body)
}

func single(email string) request { return request{emails: []string{email}} }

// freshCount makes fresh domains; it is shared, as the resolver is.
var freshCount atomic.Int64

// freshEmail is an address whose domain is asked about for the first time.
// prefix begins the domain; see waits.
func freshEmail(prefix string) string {
	return fmt.Sprintf("jane@%sfresh%d.bulk.example", prefix, freshCount.Add(1))
}

// freshBatch is a batch of so many fresh domains.
func freshBatch(prefix string, size int) request {
	r := request{batch: true}
	for range size {
		r.emails = append(r.emails, freshEmail(prefix))
	}
	return r
}

// usual is a single of one of the usual domains.
func usual(n int) request { return single(fmt.Sprintf("user%d@d%d.bulk.example", n, n%domains)) }

// batchOf is a batch of so many addresses, all different.
func batchOf(size, seed int) request {
	r := request{batch: true}
	for n := range size {
		r.emails = append(r.emails, fmt.Sprintf("user%d.%d@d%d.bulk.example", seed, n, (seed+n)%domains))
	}
	return r
}

// domains is the number of different domains in the usual load.
const domains = 40

// mixed is the usual load: singles and batches. The look-up of some singles
// fails, which costs nothing.
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

// waiting is singles and batches that wait for the resolver.
func waiting(_, n int) request {
	if n%2 == 0 {
		return single(freshEmail(silent))
	}
	return freshBatch(silent, 1+n%mostWaiting)
}

// mostWaiting is the most addresses of a batch that waits.
const mostWaiting = 9
