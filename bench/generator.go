package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sendLoad is the process that sends a load where wrk is missing: URL, connections and
// length are its arguments. It prints what it sent as JSON.
func sendLoad(args []string) int {
	if len(args) != 3 {
		return failed(errors.New("usage: role-load URL CONNECTIONS LENGTH"))
	}
	connections, err := strconv.Atoi(args[1])
	if err != nil {
		return failed(err)
	}
	span, err := time.ParseDuration(args[2])
	if err != nil {
		return failed(err)
	}
	d := load{url: args[0], key: os.Getenv("BENCH_KEY"), body: os.Getenv("BENCH_BODY"), connections: connections, span: span}
	if err := json.NewEncoder(os.Stdout).Encode(d.send()); err != nil {
		return failed(err)
	}
	return 0
}

// send sends the load from this process.
func (d load) send() (total sent) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: d.connections, MaxConnsPerHost: d.connections}}
	begun, parts := time.Now(), make([]sent, d.connections)
	var connections sync.WaitGroup
	for n := range parts {
		connections.Go(func() { parts[n] = d.sendOn(client, begun.Add(d.span)) })
	}
	connections.Wait()
	for _, p := range parts {
		total.Requests, total.Errors = total.Requests+p.Requests, total.Errors+p.Errors
	}
	total.Took = time.Since(begun)
	return total
}

func (d load) sendOn(client *http.Client, end time.Time) (s sent) {
	for time.Now().Before(end) {
		s.Requests++
		if d.sendOne(client) != nil {
			s.Errors++
		}
	}
	return s
}

func (d load) sendOne(client *http.Client) error {
	method := http.MethodGet
	if d.body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, d.url, strings.NewReader(d.body))
	if err != nil {
		return err
	}
	request.Header.Set("X-API-Key", d.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}
