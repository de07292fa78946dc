package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
)

// A request is one address by GET, or a batch by POST.
type request struct {
	emails []string
	batch  bool
	once   string // Idempotency-Key
}

// cost is what the request costs when all of it is answered.
func (r *request) cost() int64 { return int64(len(r.emails)) }

// wire is the request as it goes over the wire (RFC 9112).
func (r *request) wire(key string, keepAlive bool) string {
	var w strings.Builder
	if r.batch {
		w.WriteString("POST /v1/emails HTTP/1.1\r\nContent-Type: application/json\r\n")
	} else {
		fmt.Fprintf(&w, "GET /v1/email/%s HTTP/1.1\r\n", url.PathEscape(r.emails[0]))
	}
	fmt.Fprintf(&w, "Host: soak\r\nX-API-Key: %s\r\n", key)
	if r.once != "" {
		fmt.Fprintf(&w, "Idempotency-Key: %s\r\n", r.once)
	}
	if !keepAlive {
		w.WriteString("Connection: close\r\n")
	}
	if r.batch {
		body := r.body()
		fmt.Fprintf(&w, "Content-Length: %d\r\n\r\n%s", len(body), body)
		return w.String()
	}
	w.WriteString("\r\n")
	return w.String()
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
