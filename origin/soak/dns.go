package main

import (
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

// Prefixes of domains say how the resolver treats them, so that a load chooses
// the time of each look-up.
const silent = "silent-" // never answered

// waits is the prefix of a domain that is answered after a time.
func waits(d time.Duration) string { return "waits-" + d.String() + "-" }

// asNamed answers as the domain's prefix says.
func asNamed(w dns.ResponseWriter, reply *dns.Msg) {
	name := reply.Question[0].Name
	if strings.HasPrefix(name, silent) {
		return
	}
	if rest, found := strings.CutPrefix(name, "waits-"); found {
		word, _, _ := strings.Cut(rest, "-")
		wait, _ := time.ParseDuration(word) // a program that changes the name gets no wait and fails its trial
		time.Sleep(wait)
	}
	mxtest.Answer(w, reply)
}

// A resolver is the DNS that the programs under trial ask.
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

// Heal makes the resolver answer again; servfail.example alone always fails.
func (r *resolver) Heal() {
	r.RespondAll(mxtest.Answer)
	r.Respond("servfail.example", mxtest.ServFail)
}
