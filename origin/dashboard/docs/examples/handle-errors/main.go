package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
)

// A Problem is an error response of any shape.
type Problem struct {
	Status     int
	Code       string // "" with status 429
	Message    string
	RetryAfter string // seconds; "" if a retry does not help
	RequestID  string // for support
}

func (p *Problem) Error() string {
	return fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Message)
}

// problemOf reads a response whose status is not 200.
func problemOf(response *http.Response) error {
	p := &Problem{
		Status:     response.StatusCode,
		RetryAfter: response.Header.Get("Retry-After"),
		RequestID:  response.Header.Get("X-Request-Id"),
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	var shape struct {
		Code   string
		Detail string          // status 429
		Error  json.RawMessage // a sentence, or an object in responses to a batch
	}
	var inBatch struct{ Code, Message string }
	switch {
	case json.Unmarshal(body, &shape) != nil: // not ours: a proxy responded
		p.Message = response.Status
	case shape.Detail != "":
		p.Message = shape.Detail
	case json.Unmarshal(shape.Error, &inBatch) == nil:
		p.Code, p.Message = inBatch.Code, inBatch.Message
	default:
		p.Code = shape.Code
		_ = json.Unmarshal(shape.Error, &p.Message)
	}
	return p
}

func check(email string) error {
	request, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:8080/v1/email/"+url.PathEscape(email), nil)
	if err != nil {
		return err
	}
	request.Header.Set("X-API-Key", os.Getenv("ADDRSPEC_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return problemOf(response)
	}
	return nil
}

func main() {
	log.SetFlags(0)
	log.SetOutput(os.Stdout)
	log.Print(check("jane.@example.org"))
}
