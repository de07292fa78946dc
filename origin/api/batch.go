package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// maxUnique is the most distinct addresses a batch may hold.
const maxUnique = 64

// batch answers POST /v1/emails. It costs a point for each distinct address
// that was processed.
func (s *Server) batch(r *http.Request) response {
	start := time.Now()
	key, refusal := readKey(r.Header)
	if refusal != nil {
		return refusal.response()
	}
	order, bad := readBatch(r, key)
	request := ledger.Request{Key: key, Points: int64(len(order.emails)), Idempotency: order.idempotency()}
	admission, refused := s.admit(r.Context(), request)
	switch {
	case refused != nil:
		return *refused
	case bad != nil:
		answer := bad.response()
		answer.usage = &admission.Usage
		return answer
	case admission.Verdict == ledger.Replayed:
		return s.replay(order, admission)
	}
	return s.process(r.Context(), start, order, admission)
}

// order is a batch as it was asked for.
type order struct {
	emails []string // distinct, in input order
	once   *once    // where the caller gave an Idempotency-Key
}

func (o *order) idempotency() *ledger.Idempotency {
	if o.once == nil {
		return nil
	}
	return &o.once.Idempotency
}

// readBatch reads and judges the body. A bad one orders nothing.
func readBatch(r *http.Request, key string) (o order, bad *fault) {
	body, bad := readBody(r)
	if bad != nil {
		return order{}, bad
	}
	emails, bad := decodeBatch(body)
	if bad != nil {
		return order{}, bad
	}
	o.emails = distinct(emails)
	switch {
	case len(o.emails) == 0:
		return order{}, emptyBatch.with(`The batch holds no addresses; send {"emails": ["jane@example.org"]}.`)
	case len(o.emails) > maxUnique:
		return order{}, sizeExceeded(len(o.emails), len(emails))
	}
	o.once, bad = readOnce(r.Header, key, body)
	if bad != nil {
		return order{}, bad
	}
	return o, nil
}

func sizeExceeded(unique, received int) *fault {
	limit := maxUnique
	f := batchSizeExceeded.with(fmt.Sprintf("The batch holds %d different addresses; at most %d are taken at a time.", unique, limit))
	f.detail = detail{MaxAllowed: &limit, Received: &received}
	return f
}

// distinct keeps each address at the place where it first stands. Addresses are
// the same only when their strings are, byte for byte.
func distinct(emails []string) []string {
	seen := make(map[string]bool, min(len(emails), 2*maxUnique))
	kept := emails[:0]
	for _, email := range emails {
		if !seen[email] {
			seen[email] = true
			kept = append(kept, email)
		}
	}
	return kept
}

// process does the work that was admitted and settles what was not done.
func (s *Server) process(ctx context.Context, start time.Time, o order, admission ledger.Admission) response {
	items, err := s.checkAll(ctx, o.emails)
	finished := finishedItems(items)
	if err != nil || len(finished) == 0 {
		return s.giveBack(ctx, admission, int64(len(o.emails)), err)
	}
	body := appendBatch(nil, items, time.Since(start))
	left := int64(len(o.emails) - len(finished))
	return s.conclude(ctx, admission, body, ledger.Settlement{Refund: left, Answer: o.once.seal(body)})
}

// conclude answers with body once the ledger has what is to be settled.
func (s *Server) conclude(ctx context.Context, admission ledger.Admission, body []byte, settlement ledger.Settlement) response {
	if settlement.Refund == 0 && settlement.Answer == nil {
		return ok(body, admission.Usage)
	}
	usage, err := s.settle(ctx, admission, settlement)
	if err != nil {
		return unavailable("The ledger could not record the batch; nothing is reported. Try again shortly.").response()
	}
	return ok(body, usage)
}

// giveBack answers a batch of which nothing can be reported.
func (s *Server) giveBack(ctx context.Context, admission ledger.Admission, points int64, failure error) response {
	f := unavailable("The batch was cancelled or ran out of time before any address was finished; nothing was charged. Try again shortly.")
	if failure != nil {
		f = s.moduleFault(ctx, failure)
	}
	answer := f.response()
	usage, err := s.settle(ctx, admission, ledger.Settlement{Refund: points, Failed: true})
	if err == nil {
		answer.usage = &usage
	}
	return answer
}
