package main

import (
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

// silent is the prefix of a domain about which the resolver never replies.
const silent = "silent-"

// waits returns the prefix of a domain about which the resolver replies after d.
func waits(d time.Duration) string { return "waits-" + d.String() + "-" }

// asNamed is a fault that replies as the prefix of the domain requires. Loads use
// it to choose the time of each look-up.
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
