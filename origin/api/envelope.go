package api

import (
	"strconv"
	"time"
)

// appendBatch writes the batch envelope. The module's JSON goes out as it
// came, with mx set: nothing is decoded or encoded again.
func appendBatch(dst []byte, items []item, took time.Duration) []byte {
	finished := finishedItems(items)
	t := tally(finished)
	dst = append(dst, `{"success":true,"partial":`...)
	dst = strconv.AppendBool(dst, len(finished) < len(items))
	dst = appendCount(dst, "total", len(finished))
	dst = appendCount(dst, "valid_count", t.valid)
	dst = appendCount(dst, "invalid_count", t.invalid)
	dst = appendCount(dst, "error_count", t.failed)
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

func appendCount(dst []byte, name string, n int) []byte {
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return strconv.AppendInt(dst, int64(n), 10)
}

// counts are the batch's items by what became of them; they add up to total.
type counts struct{ valid, invalid, failed int }

func tally(items []*item) (c counts) {
	for _, i := range items {
		switch {
		case i.dns != nil:
			c.failed++
		case i.facts.Valid:
			c.valid++
		default:
			c.invalid++
		}
	}
	return c
}

// append writes one batch item.
func (i *item) append(dst []byte) []byte {
	dst = append(append(dst, `{"email":`...), i.facts.Email...)
	if i.dns != nil {
		return append(i.appendError(append(dst, `,"status":"error","result":null,"error":`...)), '}')
	}
	dst = append(dst, `,"status":"success","result":`...)
	return append(i.facts.AppendResult(dst, i.mx), `,"error":null}`...)
}

// appendError writes the error object; the domain in it is in A-label form and
// needs no escape.
func (i *item) appendError(dst []byte) []byte {
	code, message := itemError(i.dns, i.facts.Host)
	dst = append(append(dst, `{"code":"`...), code...)
	dst = append(append(dst, `","message":"`...), message...)
	return append(dst, `"}`...)
}
