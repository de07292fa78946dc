package main

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// resolverFaults makes the resolver fail in several ways. A failed lookup gets the
// contract's errors within the deadline, cached domains are still served, and a
// failed single is not charged.
func resolverFaults(s *session) error {
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	p, err := s.start()
	if err != nil {
		return err
	}
	f := &resolverFault{session: s, account: a, client: &client{address: p.address, key: a.key, keepAlive: true}}
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
		{"noise", mxtest.Noise, "DNS_"}, // not a DNS message: either code is correct
	} {
		s.dns.RespondAll(fault.fault)
		f.try(fault.name, fault.code, known)
		s.dns.RespondAll(mxtest.Answer)
		f.recover(fault.name)
	}
	return s.expectLedger(a, f.points, f.points)
}

type resolverFault struct {
	*session
	account account
	client  *client
	points  int64 // that responses reported
}

// deadline is the longest time of a single: that of its lookup, and a little.
const deadline = dnsTimeout + busy

func (f *resolverFault) try(name, code string, known request) {
	o := f.expectStatus(name, single(newEmail("")), 503)
	f.expectWithin(o.took, deadline, name+": the 503")
	uncached, slow := f.mixedBatch(name, code, known)
	cached := f.cached(name, known)
	f.figure("%-9s 503 for a single after %s; batch of 2 cached and %d new domains after %s; cached domain p50 %s, p99 %s", name+":",
		round(o.took), uncached, round(slow), round(percentile(cached, 50)), round(percentile(cached, 99)))
}

// mixedBatch sends cached and new domains together. The cached ones succeed, the
// new ones are error items with this code.
func (f *resolverFault) mixedBatch(name, code string, known request) (uncached int, took time.Duration) {
	r := request{batch: true, emails: []string{known.emails[0], "x+tag@known.bulk.example"}}
	for range 20 {
		r.emails = append(r.emails, newEmail(""))
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
		ok := item.Status == "success"
		if n > 1 {
			ok = item.Status == "error" && strings.HasPrefix(item.Error.Code, code)
		}
		f.expect(ok, "%s: item %d is %s %s", name, n, item.Status, item.Error.Code)
	}
	f.expectWithin(o.took, deadline, name+": the batch")
	return len(r.emails) - 2, o.took
}

// cached requests the cached domain repeatedly.
func (f *resolverFault) cached(name string, known request) (took []time.Duration) {
	for range f.times(500) {
		took = append(took, f.expectStatus(name, known, 200).took)
	}
	return took
}

// recover expects a new domain to be served as soon as the resolver replies again.
func (f *resolverFault) recover(name string) {
	f.expectStatus("after "+name, single(newEmail("")), 200)
}

func (f *resolverFault) expectStatus(name string, r request, want int) outcome {
	o := f.client.send(r)
	points, err := o.points(r)
	f.points += points
	f.expect(o.kind == responded && err == nil, "%s: no response as the contract requires: %v %v", name, o.err, err)
	f.expect(o.status == want, "%s: the response is %d, want %d: %s", name, o.status, want, o.body)
	return o
}

// silent is the prefix of a domain about which the resolver never replies.
const silent = "silent-"

// waits returns the prefix of a domain about which the resolver replies after d.
func waits(d time.Duration) string { return "waits-" + d.String() + "-" }

// asNamed is a fault that replies as the prefix of the domain requires. Loads use
// it to choose the time of each lookup.
func asNamed(w dns.ResponseWriter, reply *dns.Msg) {
	name := reply.Question[0].Name
	if strings.HasPrefix(name, silent) {
		return
	}
	if rest, found := strings.CutPrefix(name, "waits-"); found {
		word, _, _ := strings.Cut(rest, "-")
		wait, _ := time.ParseDuration(word) // of a name that the program changed: no wait, so the trial fails
		time.Sleep(wait)
	}
	mxtest.Answer(w, reply)
}

// A resolver is the DNS server of the programs on trial.
type resolver struct{ *mxtest.Server }

const zone = `
	example.          300 IN SOA ns.example. hostmaster.example. 1 2 3 4 60
	mail.example.     300 IN MX  10 mx1.mail.example.
	servfail.example. 300 IN MX  10 mx1.mail.example.
	*.bulk.example.   300 IN MX  10 mx1.mail.example.
`

func listenDNS() (*resolver, error) {
	server, err := mxtest.Listen("127.0.0.1:0", zone)
	if err != nil {
		return nil, err
	}
	r := &resolver{server}
	r.Heal()
	return r, nil
}

// Heal removes all faults but that of servfail.example.
func (r *resolver) Heal() {
	r.RespondAll(mxtest.Answer)
	r.Respond("servfail.example", mxtest.ServFail)
}
