package api

import (
	"net/http"
	"strconv"

	"github.com/addrspec/addrspec/origin/ledger"
)

// setQuota sets RateLimit-Policy and RateLimit
// (draft-ietf-httpapi-ratelimit-headers-10):
//
//	RateLimit-Policy: "rate";q=5;w=1, "points";q=1000;qu="points"
//	RateLimit: "rate";r=4;t=1, "points";r=988;t=864000
//
// What is unlimited is left out, and so are points that may be exceeded: a
// client that heeds the fields would stop for nothing.
func setQuota(h http.Header, u *ledger.Usage, q *ledger.Quota) {
	var policy, left quotaField
	if q.Rate != ledger.Unlimited {
		policy.item("rate").number(";q=", q.Rate).text(";w=1")
		left.item("rate").number(";r=", q.Tokens).text(";t=1")
	}
	if u.Limit != ledger.Unlimited && !q.Overage {
		policy.item("points").number(";q=", u.Limit).text(`;qu="points"`)
		left.item("points").number(";r=", max(u.Limit-u.Current, 0)).number(";t=", int64(wholeSeconds(q.Refill)))
	}
	if len(policy) > 0 {
		h.Set("RateLimit-Policy", string(policy))
		h.Set("RateLimit", string(left))
	}
}

// A quotaField is a List of Strings with parameters (RFC 9651 section 3.1).
type quotaField []byte

func (f *quotaField) item(name string) *quotaField {
	if len(*f) > 0 {
		f.text(", ")
	}
	return f.text(`"` + name + `"`)
}

func (f *quotaField) number(name string, n int64) *quotaField {
	f.text(name)
	*f = strconv.AppendInt(*f, min(n, maxInteger), 10)
	return f
}

func (f *quotaField) text(s string) *quotaField {
	*f = append(*f, s...)
	return f
}

// maxInteger is the largest Integer of a structured field (RFC 9651 section
// 3.3.1).
const maxInteger = 999_999_999_999_999
