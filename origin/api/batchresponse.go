package api

import (
	"strconv"
	"time"
)

// appendBatch appends to dst the response of a batch of total addresses with the
// finished items. The module's JSON is copied and mx set in it; nothing is decoded
// or encoded again.
func appendBatch(dst []byte, finished []*item, total int, took time.Duration) []byte {
	c := countStatus(finished)
	dst = append(dst, `{"success":true,"partial":`...)
	dst = strconv.AppendBool(dst, len(finished) < total)
	dst = appendCount(dst, "total", len(finished))
	dst = appendCount(dst, "valid_count", c.valid)
	dst = appendCount(dst, "invalid_count", c.invalid)
	dst = appendCount(dst, "error_count", c.failed)
	dst = appendCount(dst, "usage_points", len(finished))
	dst = appendCount(dst, "processing_time_ms", int(took.Milliseconds()))
	dst = append(dst, `,"results":[`...)
	for n, i := range finished {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = i.append(dst)
	}
	return append(dst, `]}`...)
}

// envelopeSize estimates the size of the response in bytes.
func envelopeSize(items []*item) int {
	size := 256
	for _, i := range items {
		size += len(i.facts.JSON) + len(i.facts.Email) + 64
	}
	return size
}

func appendCount(dst []byte, name string, n int) []byte {
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return strconv.AppendInt(dst, int64(n), 10)
}

// statusCounts counts the finished items of a batch by outcome.
type statusCounts struct{ valid, invalid, failed int }

func countStatus(items []*item) (c statusCounts) {
	for _, i := range items {
		switch {
		case i.lookup.err != nil:
			c.failed++
		case i.facts.Valid:
			c.valid++
		default:
			c.invalid++
		}
	}
	return c
}

// append appends the JSON of one batch item.
func (i *item) append(dst []byte) []byte {
	dst = append(append(dst, `{"email":`...), i.facts.Email...)
	if i.lookup.err != nil {
		return append(i.appendError(append(dst, `,"status":"error","result":null,"error":`...)), '}')
	}
	dst = append(dst, `,"status":"success","result":`...)
	return append(i.facts.AppendResult(dst, i.lookup.mx), `,"error":null}`...)
}

// appendError appends the error object. The domain in it is in A-label form and
// needs no escaping.
func (i *item) appendError(dst []byte) []byte {
	code, message := ItemError(i.lookup.err, i.facts.Host)
	dst = append(append(dst, `{"code":"`...), code...)
	dst = append(append(dst, `","message":"`...), message...)
	return append(dst, `"}`...)
}
