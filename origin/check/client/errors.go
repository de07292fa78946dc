package client

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/addrspec/addrspec/origin/words"
)

// An outOfPointsError ends a run whose account has too few points left.
type outOfPointsError struct {
	Required  int64     // of the request; 0 if not known
	Remaining int64     // that are left
	Refill    time.Time // when they refill; zero if not known
}

// Error says what is left and when the points refill.
func (e *outOfPointsError) Error() string {
	text := "the month's usage points are used up"
	if e.Remaining > 0 {
		text = fmt.Sprintf("too few usage points are left this month: %d", e.Remaining)
		if e.Required > 0 {
			text += fmt.Sprintf(", and the next batch needs %d", e.Required)
		}
	}
	if e.Refill.IsZero() {
		return text + "; they refill with the next month (UTC)"
	}
	return text + "; they refill on " + words.Time(e.Refill)
}

// asOutOfPoints returns the error of an account without points, or nil.
func asOutOfPoints(err error) *outOfPointsError {
	out, _ := errors.AsType[*outOfPointsError](err)
	return out
}

// A Problem is one that the service reported.
type Problem struct {
	Status  int
	Code    string // such as INVALID_API_KEY; may be empty
	Message string // without control characters
}

// Error returns the service's own sentence.
func (e *Problem) Error() string {
	text := fmt.Sprintf("the service refused the request with status %d", e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// A gaveUpError is the last error after all attempts.
type gaveUpError struct {
	Attempts int
	Last     error
}

// Error says how often the request was tried.
func (e *gaveUpError) Error() string {
	if e.Attempts == 1 {
		return e.Last.Error()
	}
	return fmt.Sprintf("gave up after %d attempts: %v", e.Attempts, e.Last)
}

// Unwrap returns the last error.
func (e *gaveUpError) Unwrap() error { return e.Last }

// A badResponseError is a response that is not one of the service.
type badResponseError struct{ What string }

// Error says what is wrong with the response.
func (e *badResponseError) Error() string {
	return e.What + "; check that the URL is that of an addrspec service, and that no proxy between changes its responses"
}

// An unreachableError is one of the network.
type unreachableError struct {
	Host  string
	Cause error
}

// Error names the service and the cause.
func (e *unreachableError) Error() string {
	return fmt.Sprintf("cannot reach the service at %s: %v; check the URL and the network", e.Host, e.Cause)
}

// Unwrap returns the cause.
func (e *unreachableError) Unwrap() error { return e.Cause }

// maxSentence is how much of a foreign text an error repeats, in runes.
const maxSentence = 400

// sentence makes a text of the service safe to print.
func sentence(text string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, text))
	if len(runes) > maxSentence {
		return string(runes[:maxSentence]) + "…"
	}
	return string(runes)
}
