package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// sendLoad is the process that sends a load where wrk is missing. It prints what it
// sent as JSON.
func sendLoad(args []string) int {
	d, err := readLoad(args, os.Stdin)
	if err != nil {
		return failed(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(d.send()); err != nil {
		return failed(err)
	}
	return 0
}

// readLoad reads what load.own passes on.
func readLoad(args []string, in io.Reader) (d load, err error) {
	if len(args) != 4 {
		return d, errors.New("usage: role-load URL CONNECTIONS LENGTH FROM")
	}
	d.url = args[0]
	if d.connections, err = strconv.Atoi(args[1]); err != nil {
		return d, err
	}
	if d.span, err = time.ParseDuration(args[2]); err != nil {
		return d, err
	}
	if d.from, err = strconv.ParseInt(args[3], 10, 64); err != nil {
		return d, err
	}
	text, err := io.ReadAll(in)
	keys, body, found := strings.Cut(string(text), "\n\n")
	if !found {
		return d, errors.Join(err, errors.New("standard input has no empty line between keys and body"))
	}
	d.keys, d.body = strings.Fields(keys), body
	return d, err
}

// A sender sends a load from this process.
type sender struct {
	load
	client *http.Client
	end    time.Time
	next   atomic.Int64 // number of the next request
}

func (d load) send() (total sent) {
	transport := &http.Transport{MaxIdleConnsPerHost: d.connections, MaxConnsPerHost: d.connections}
	defer transport.CloseIdleConnections()
	begun := time.Now()
	s := &sender{load: d, client: &http.Client{Transport: transport}, end: begun.Add(d.span)}
	times, failures := make([][]time.Duration, d.connections), atomic.Int64{}
	var connections sync.WaitGroup
	for n := range times {
		connections.Go(func() { times[n] = s.sendOn(&failures) })
	}
	connections.Wait()
	all := slices.Concat(times...)
	slices.Sort(all)
	return sent{int64(len(all)), time.Since(begun), failures.Load(), percentile(all, 50), percentile(all, 99)}
}

// percentile returns the time that percent of the sorted times do not exceed.
func percentile(times []time.Duration, percent int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	return times[(len(times)-1)*percent/100]
}

// sendOn sends requests one after another, and returns their times.
func (s *sender) sendOn(failures *atomic.Int64) (times []time.Duration) {
	for begun := time.Now(); begun.Before(s.end); begun = time.Now() {
		if s.sendOne() != nil {
			failures.Add(1)
		}
		times = append(times, time.Since(begun))
	}
	return times
}

func (s *sender) sendOne() error {
	n := s.next.Add(1)
	request, err := s.request(n)
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
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

// request returns the n-th request of the load.
func (d load) request(n int64) (*http.Request, error) {
	method, body := http.MethodGet, d.body
	if body != "" {
		method = http.MethodPost
	}
	if d.from != 0 {
		body = strings.ReplaceAll(body, "#", strconv.FormatInt(d.from+n, 10))
	}
	request, err := http.NewRequest(method, d.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if len(d.keys) > 0 {
		request.Header.Set("X-API-Key", d.keys[n%int64(len(d.keys))])
	}
	request.Header.Set("Content-Type", "application/json")
	return request, nil
}

// sendOnce sends one request of the load and returns an error for any answer but 200.
func (d load) sendOnce() error {
	return (&sender{load: d, client: http.DefaultClient}).sendOne()
}
