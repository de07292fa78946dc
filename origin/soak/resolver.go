package main

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

// resolverFaults makes the resolver fail in several ways. A look-up that fails
// gets the contract's errors, within the deadline; domains in the cache are
// still answered; a single that fails is not charged.
func resolverFaults(s *scene) error {
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	p, err := s.start()
	if err != nil {
		return err
	}
	f := &dnsFault{scene: s, account: a, client: &client{address: p.address, key: a.key, keepAlive: true}}
	defer f.client.close()
	known := single("jane@known.bulk.example")
	f.expectStatus("before", known, 200)
	for _, fault := range []struct {
		name  string
		fault mxtest.Responder
		code  string
	}{
		{"silent", mxtest.Silent, "DNS_TIMEOUT"},
		{"SERVFAIL", mxtest.ServFail, "DNS_FAILURE"},
		{"REFUSED", mxtest.Refused, "DNS_FAILURE"},
		{"garbage", mxtest.Garbage, "DNS_FAILURE"},
		{"noise", mxtest.Noise, "DNS_"}, // no DNS message: either is true
	} {
		s.dns.RespondAll(fault.fault)
		f.try(fault.name, fault.code, known)
		s.dns.RespondAll(mxtest.Answer)
		f.recover(fault.name)
	}
	return s.expectBooks(a, f.points, f.points)
}

type dnsFault struct {
	*scene
	account account
	client  *client
	points  int64 // sum of the answers
}

// deadline is the longest time of a single: its look-up's and a little.
const deadline = dnsTimeout + busy

func (f *dnsFault) try(name, code string, known request) {
	o := f.expectStatus(name, single(freshEmail("")), 503)
	f.expectWithin(o.took, deadline, name+": the 503")
	fresh, slow := f.mixedBatch(name, code, known)
	cached := f.cached(name, known)
	f.figure("%-9s 503 for one after %s; batch of 2 known and %d fresh domains after %s; known domain p50 %s, p99 %s", name+":",
		round(o.took), fresh, round(slow), round(percentile(cached, 50)), round(percentile(cached, 99)))
}

// mixedBatch sends known and fresh domains together: the known are answered,
// the fresh are items with code.
func (f *dnsFault) mixedBatch(name, code string, known request) (fresh int, took time.Duration) {
	r := request{batch: true, emails: []string{known.emails[0], "x+tag@known.bulk.example"}}
	for range 20 {
		r.emails = append(r.emails, freshEmail(""))
	}
	o := f.expectStatus(name, r, 200)
	var e struct {
		Results []struct {
			Status string
			Error  struct{ Code string }
		}
	}
	err := json.Unmarshal(o.body, &e)
	f.expect(err == nil && len(e.Results) == len(r.emails), "%s: a batch of %d has %d results", name, len(r.emails), len(e.Results))
	for n, item := range e.Results {
		holds := item.Status == "success"
		if n > 1 {
			holds = item.Status == "error" && strings.HasPrefix(item.Error.Code, code)
		}
		f.expect(holds, "%s: item %d is %s %s", name, n, item.Status, item.Error.Code)
	}
	f.expectWithin(o.took, deadline, name+": the batch")
	return len(r.emails) - 2, o.took
}

// cached asks about the known domain again and again.
func (f *dnsFault) cached(name string, known request) (took []time.Duration) {
	for range f.times(500) {
		took = append(took, f.expectStatus(name, known, 200).took)
	}
	return took
}

// recover expects a fresh domain to be answered as soon as the resolver does.
func (f *dnsFault) recover(name string) { f.expectStatus("after "+name, single(freshEmail("")), 200) }

func (f *dnsFault) expectStatus(name string, r request, want int) outcome {
	o := f.client.send(r)
	points, err := o.points(r)
	f.points += points
	f.expect(o.fate == answered && err == nil, "%s: no answer of the contract: %v %v", name, o.err, err)
	f.expect(o.status == want, "%s: the answer is %d and not %d: %s", name, o.status, want, o.body)
	return o
}
