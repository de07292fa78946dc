package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

type item struct {
	Email  string
	Result *struct {
		Valid, MX, Disposable, Gibberish bool
		TypoSuggestion                   string `json:"typo_suggestion"`
	}
	Error *struct{ Code string }
}

// check sends one batch. While the rate is exceeded or the service is busy, it
// waits and sends the same batch with the same Idempotency-Key.
func check(emails []string) (items []item, err error) {
	body, err := json.Marshal(map[string][]string{"emails": emails})
	if err != nil {
		return nil, err
	}
	key := rand.Text()
	for range 10 {
		request, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:8080/v1/emails", bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("X-API-Key", os.Getenv("ADDRSPEC_KEY"))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return nil, err
		}
		switch response.StatusCode {
		case http.StatusOK:
			var batch struct{ Results []item }
			err := json.Unmarshal(text, &batch)
			return batch.Results, err
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
			time.Sleep(time.Duration(max(seconds, 1)) * time.Second)
		default:
			return nil, fmt.Errorf("%s: %s", response.Status, text)
		}
	}
	return nil, fmt.Errorf("no response after 10 attempts")
}

// advice is what to do with an address.
func advice(i item) string {
	switch {
	case i.Error != nil:
		return "check again"
	case !i.Result.Valid:
		return "remove"
	case i.Result.TypoSuggestion != "":
		return "ask"
	case i.Result.Disposable || i.Result.Gibberish:
		return "doubt"
	case !i.Result.MX:
		return "confirm" // mail may still go to its address record
	}
	return "keep"
}

// readAddresses returns the different lines of a file.
func readAddresses(name string) (list []string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	seen := map[string]bool{"": true}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if email := strings.TrimSpace(lines.Text()); !seen[email] {
			seen[email] = true
			list = append(list, email)
		}
	}
	return list, lines.Err()
}

func main() {
	addresses, err := readAddresses("addresses.txt")
	if err != nil {
		log.Fatal(err)
	}
	out := csv.NewWriter(os.Stdout)
	for chunk := range slices.Chunk(addresses, 64) {
		items, err := check(chunk)
		if err != nil {
			log.Fatal(err)
		}
		for _, i := range items {
			if err := out.Write([]string{i.Email, advice(i)}); err != nil {
				log.Fatal(err)
			}
		}
		out.Flush()
	}
}
