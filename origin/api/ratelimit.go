package api

import (
	"strconv"

	"github.com/addrspec/addrspec/origin/ledger"
)

// setRateLimit sets RateLimit-Policy and RateLimit
// (draft-ietf-httpapi-ratelimit-headers-10):
//
//	RateLimit-Policy: "rate";q=5;w=1, "points";q=1000;qu="points"
//	RateLimit: "rate";r=4;t=1, "points";r=988;t=864000
//
// Limits that are unlimited are left out, and so are points if overage is
// allowed: a client that obeys the fields would stop without need.
func setRateLimit(f *fields, u *ledger.Usage, q *ledger.Quota) {
	policy, left := make([]byte, 0, 64), make([]byte, 0, 64)
	if q.Rate != ledger.Unlimited {
		policy = append(appendRateLimit(policy, `"rate";q=`, q.Rate), `;w=1`...)
		left = append(appendRateLimit(left, `"rate";r=`, q.Tokens), `;t=1`...)
	}
	if u.Limit != ledger.Unlimited && !q.Overage {
		policy = append(appendRateLimit(policy, `"points";q=`, u.Limit), `;qu="points"`...)
		left = appendRateLimit(left, `"points";r=`, max(u.Limit-u.Current, 0))
		left = strconv.AppendInt(append(left, `;t=`...), int64(wholeSeconds(q.Refill)), 10)
	}
	if len(policy) > 0 {
		f.set("Ratelimit-Policy", string(policy))
		f.set("Ratelimit", string(left))
	}
}

// appendRateLimit appends an item with its first parameter to a List of Strings
// (RFC 9651 section 3.1).
func appendRateLimit(dst []byte, item string, n int64) []byte {
	if len(dst) > 0 {
		dst = append(dst, ", "...)
	}
	return strconv.AppendInt(append(dst, item...), min(n, maxInteger), 10)
}

// maxInteger is the largest Integer of a structured field (RFC 9651 section
// 3.3.1).
const maxInteger = 999_999_999_999_999
