package api

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// batch is POST /v1/emails. It costs one point for each distinct address that
// was processed.
var batch = &operation{name: "batch", style: batchStyle, read: readBatch}

// maxUnique is the largest number of distinct addresses in a batch.
const maxUnique = 64

func readBatch(x *exchange, r *http.Request) (job, *problem) {
	body, p := x.readBody(r)
	if p != nil {
		return job{}, p
	}
	given, p := decodeLimited(r.Context(), body, readAddresses)
	if p != nil {
		return job{}, p
	}
	record, p := readIdempotencyKey(r.Header, x.request.Account(), body)
	if p != nil {
		return job{}, p
	}
	return job{price: int64(len(given.emails)), record: record, work: func(x *exchange, ctx context.Context) (outcome, *problem) {
		return x.finishBatch(ctx, x.start, &given)
	}}, nil
}

// readAddresses returns the content of the body, which has 1 to maxUnique
// distinct addresses.
func readAddresses(body []byte) (batchInput, *problem) {
	given, p := decodeBatch(body)
	switch {
	case p != nil:
		return batchInput{}, p
	case given.exceeded:
		return batchInput{}, sizeExceeded(given.received)
	case len(given.emails) == 0:
		return batchInput{}, emptyBatch.with(`The batch has no addresses; send {"emails": ["jane@example.org"]}.`)
	}
	return given, nil
}

func sizeExceeded(received int) *problem {
	limit := maxUnique
	p := batchSizeExceeded.with(fmt.Sprintf("The batch has more than %d different addresses; send it in parts.", limit))
	p.extra = extra{MaxAllowed: &limit, Received: &received}
	return p
}

// finishBatch checks the addresses. Those not finished in time are neither
// reported nor charged.
func (x *exchange) finishBatch(ctx context.Context, start time.Time, given *batchInput) (outcome, *problem) {
	memory := &batchMemory{items: make([]item, len(given.emails))}
	defer memory.release()
	if err := x.checkAll(ctx, given, memory); err != nil {
		return outcome{}, x.workProblem(ctx, err)
	}
	finished := finishedItems(memory.items)
	body := appendBatch(x.answerRoom(envelopeSize(finished)), finished, len(memory.items), time.Since(start))
	done := outcome{points: int64(len(finished)), body: body}
	for _, i := range finished {
		i.tally(&done.found)
	}
	return done, nil
}
