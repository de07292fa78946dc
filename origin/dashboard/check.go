package dashboard

import (
	"net/http"
	"strconv"
)

// checkPath passes batches from the page Lists to POST /v1/emails, and its answers
// back, byte for byte.
const checkPath = "/dashboard/lists/check"

// check is the handler of checkPath. The token is in a header, so that the body
// goes to the API unread, which has its own bounds.
func (d *Dashboard) check(w http.ResponseWriter, r *http.Request) {
	v, err := d.visit(w, r, route{access: signedIn})
	v.json = true
	if err == nil {
		err = d.guardHeader(v)
	}
	if err != nil {
		d.refuse(v, err)
		return
	}
	v.passOn(v.call(apiRequest{method: http.MethodPost, path: "/v1/emails", body: r.Body, length: r.ContentLength, header: r.Header}))
}

// call sends a request to the API, in a slot for checks.
func (v *visit) call(q apiRequest) *apiAnswer {
	ctx, p := v.move(v.checks, q.answerMemory())
	if p != nil {
		return busyAnswer(p)
	}
	return v.api.call(ctx, v.user.Account, q)
}

// answerMemory estimates the size of the answer, which is in memory until it is
// sent: it repeats each address up to three times. The API refuses more than its
// bound of a body.
func (q *apiRequest) answerMemory() int64 {
	const maxBody, facts = 1 << 20, 64 << 10
	if q.length < 0 || q.length > maxBody {
		return 3*maxBody + facts
	}
	return 3*q.length + facts
}

// busyAnswer returns the problem of a request without a slot as the API would: it
// is temporary, and clients retry it as they do there.
func busyAnswer(p *problem) *apiAnswer {
	answer := flatAnswer(p.status, "REQUEST_CANCELLED", p.sentence)
	if p.status == http.StatusTooManyRequests {
		answer = rateAnswer("Rate limit exceeded: " + strconv.Itoa(maxChecksEach) + " requests of this account are under way in the dashboard. Try again in 1 seconds.")
	}
	answer.header.Set("Retry-After", "1")
	return answer
}

// passOn answers with the API's answer.
func (v *visit) passOn(answer *apiAnswer) {
	copyHeaders(v.w.Header(), answer.header, passedOut)
	v.w.Header().Set("Cache-Control", "no-store")
	v.send(answer.status, "application/json", answer.body)
}
