package main

import (
	"fmt"
	"time"

	"github.com/miekg/dns"

	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

// commitGroup is the most requests in one commit group.
const commitGroup = 256

// burstSize is more than two commit groups, so that charges wait while the
// responses of earlier groups are sent.
const burstSize = 600

// inBursts has many singles finish their work at one moment and kills the process
// within the next milliseconds. At most one commit group is charged without
// responses.
func (k *kills) inBursts() error {
	a, err := k.newAccount("burst", unlimited, unlimited)
	if err != nil {
		return err
	}
	b := &burst{kills: k, account: a}
	rounds := k.times(30)
	for n := range rounds {
		if err := b.round(fmt.Sprintf("gate%d.bulk.example", n)); err != nil {
			return err
		}
	}
	k.figure("%d kills within 30 ms after the look-up of %d singles: %d answered, %d charged; per kill at most %d charged without a response",
		rounds, burstSize, b.answered, b.charged, b.unanswered)
	return nil
}

// A burst is a series of singles of one account that wait for the same look-up.
type burst struct {
	*kills
	account           account
	answered, charged int64
	unanswered        int64 // charged without a response, at the worst kill
}

func (b *burst) round(domain string) error {
	open := b.dnsGate(domain)
	l := &load{account: b.account, clients: burstSize, at: b.plain.at}
	l.next = func(client, _ int) request { return single(fmt.Sprintf("user%d@%s", client, domain)) }
	l.finished = func(int, request, outcome) bool { return false }
	stop := l.start(b.ctx)
	time.Sleep(400 * time.Millisecond) // until all are sent; none has timed out yet
	open()
	pause(0, 30*time.Millisecond)
	b.process.Kill()
	stop()
	var err error
	if b.process, err = b.startAt(b.process.address); err != nil {
		return err
	}
	return b.compare(l)
}

// dnsGate delays replies about a domain until open is called.
func (s *session) dnsGate(domain string) (open func()) {
	opened := make(chan struct{})
	s.dns.Respond(domain, func(w dns.ResponseWriter, reply *dns.Msg) {
		select {
		case <-opened:
			mxtest.Answer(w, reply)
		case <-s.ctx.Done():
		}
	})
	return func() { close(opened) }
}

func (b *burst) compare(l *load) error {
	points, _ := l.charged()
	used, err := b.used(b.account)
	unanswered := used - b.charged - points
	b.answered, b.charged, b.unanswered = b.answered+points, used, max(b.unanswered, unanswered)
	b.expect(unanswered >= 0, "%d points of responses are not in the ledger", -unanswered)
	b.judge(unanswered)
	b.expectContract(&l.tally)
	return err
}

// judge limits the number of points charged without a response. A short run only
// reports it: on a busy machine a response may take longer than the next commit
// group waits for it.
func (b *burst) judge(unanswered int64) {
	if b.seconds == fullLength {
		b.expect(unanswered <= commitGroup, "one kill left %d points charged without a response, more than a commit group", unanswered)
	}
}
