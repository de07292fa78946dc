package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"
)

const attempts = 6

var client = &http.Client{Timeout: 30 * time.Second}

// checkBatch sends a batch until it has a response. All attempts have the same
// Idempotency-Key, so the batch is charged once.
func checkBatch(emails []string) ([]byte, error) {
	body, err := json.Marshal(map[string][]string{"emails": emails})
	if err != nil {
		return nil, err
	}
	key := rand.Text()
	for attempt := 1; ; attempt++ {
		text, wait, err := send(body, key, attempt)
		if err == nil || wait == 0 || attempt == attempts {
			return text, err
		}
		time.Sleep(wait)
	}
}

// send makes one attempt. wait is the time until the next one, 0 if there should
// be none.
func send(body []byte, key string, attempt int) (text []byte, wait time.Duration, err error) {
	// Up to 1 s, 2 s, 4 s and so on, at random, so that clients do not return together.
	backoff := time.Millisecond + mathrand.N(time.Second<<(attempt-1))
	request, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:8080/v1/emails", bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("X-API-Key", os.Getenv("ADDRSPEC_KEY"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := client.Do(request)
	if err != nil {
		return nil, backoff, err // no response: it is unknown whether the batch was charged
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		return nil, backoff, err
	}
	switch response.StatusCode {
	case http.StatusOK:
		return text, 0, nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		wait = backoff
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
			wait = time.Duration(seconds)*time.Second + mathrand.N(time.Second/10)
		}
	case http.StatusConflict, http.StatusInternalServerError:
		wait = backoff
	}
	return nil, wait, errors.New(response.Status + ": " + string(text))
}

func main() {
	text, err := checkBatch([]string{"jane@example.org", "info@hotmial.com"})
	if err != nil {
		log.Fatal(err)
	}
	var batch struct {
		UsagePoints int `json:"usage_points"`
	}
	if err := json.Unmarshal(text, &batch); err != nil {
		log.Fatal(err)
	}
	fmt.Println("points:", batch.UsagePoints)
}
