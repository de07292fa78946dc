package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// apiProblem has the members of the API's three shapes of errors.
type apiProblem struct {
	Error  json.RawMessage `json:"error"` // shape A: a sentence; shape B: an object
	Code   string          `json:"code"`
	Detail string          `json:"detail"` // shape C
}

// apiProblemDetail is the error object of shape B.
type apiProblemDetail struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Required  int64  `json:"required"`
	Remaining int64  `json:"remaining"`
}

// problemOfAnswer returns why the API refused a request, in a sentence for people.
func problemOfAnswer(a *apiAnswer, refill time.Time) *problem {
	var given apiProblem
	var detail apiProblemDetail
	if err := json.Unmarshal(a.body, &given); err == nil && json.Unmarshal(given.Error, &detail) != nil {
		detail.Code = given.Code
		_ = json.Unmarshal(given.Error, &detail.Message)
	}
	p := &problem{status: a.status, code: detail.Code, sentence: detail.Message, input: true, wait: retryAfter(a)}
	switch {
	case a.status == http.StatusPaymentRequired:
		p.sentence = fmt.Sprintf("This costs %s, and %s left this month. The points refill on %s. Check fewer addresses, or wait.",
			points(detail.Required), pointsAre(detail.Remaining), formatDay(refill))
	case a.status == http.StatusTooManyRequests && p.wait == 0:
		p.code, p.sentence = "INSUFFICIENT_USAGE", "The points of this month are used up. They refill on "+formatDay(refill)+"."
	case a.status == http.StatusTooManyRequests:
		p.code, p.sentence = "RATE_LIMITED", "The account sends as many requests as it may at the moment. "+tryAgainIn(p.wait)+" Nothing was charged."
	case a.status == http.StatusServiceUnavailable:
		p.sentence += " " + tryAgainIn(p.wait)
	case p.sentence == "":
		p.sentence = fmt.Sprintf("The API answered with status %d. Nothing was charged.", a.status)
	}
	return p
}

func retryAfter(a *apiAnswer) time.Duration {
	seconds, _ := strconv.Atoi(a.header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second
}

func tryAgainIn(wait time.Duration) string {
	if wait <= time.Second {
		return "Try again in a second."
	}
	return fmt.Sprintf("Try again in %d seconds.", int(wait.Seconds()))
}

func points(n int64) string {
	if n == 1 {
		return "1 point"
	}
	return formatNumber(n) + " points"
}

// pointsAre is points with its verb.
func pointsAre(n int64) string {
	if n == 1 {
		return "1 point is"
	}
	return points(n) + " are"
}
