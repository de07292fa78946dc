package main

import (
	"fmt"
	"time"

	"github.com/miekg/dns"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// killed repeatedly kills the program under load. After each kill the ledger has
// the points of all responses, and at most those of the requests in flight besides.
// Batches with an Idempotency-Key are sent until they get a response. Each is
// charged once.
func killed(s *session) error {
	k, err := s.newKills()
	if err != nil {
		return err
	}
	for _, part := range []func() error{k.inBursts, k.underLoad} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// kills is a process that is killed repeatedly, and its loads.
type kills struct {
	*session
	process *process
	plain   *load
	once    *onceLoad
	back    []time.Duration // from a kill to the next response with 200
}

func (s *session) newKills(flags ...string) (*kills, error) {
	plain, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return nil, err
	}
	repeating, err := s.newAccount("once", unlimited, unlimited)
	if err != nil {
		return nil, err
	}
	p, err := s.start(flags...)
	if err != nil {
		return nil, err
	}
	at := always(p.address)
	l := &load{account: plain, clients: 8, at: at, next: mixed}
	return &kills{session: s, process: p, plain: l, once: newOnceLoad(repeating, at)}, nil
}

// start starts both loads.
func (k *kills) start() (stop func()) {
	stopPlain, stopOnce := k.plain.start(k.ctx), k.once.start(k.ctx)
	return func() { stopPlain(); stopOnce() }
}

// restart kills the process and starts another at the same address.
func (k *kills) restart(flags ...string) (err error) {
	k.process.Kill()
	k.process, err = k.startAt(k.process.address, flags...)
	return err
}

func (k *kills) underLoad() error {
	stop := k.start()
	defer stop()
	for range k.times(50) {
		pause(50*time.Millisecond, 200*time.Millisecond)
		begun := time.Now()
		if err := k.restart(); err != nil {
			return err
		}
		if err := k.awaitService(k.plain); err != nil {
			return err
		}
		k.back = append(k.back, time.Since(begun))
		if err := k.expectLedgerOf(k.plain, k.once); err != nil {
			return err
		}
	}
	stop()
	return k.conclude()
}

// conclude reports and judges the loads after they have stopped.
func (k *kills) conclude() error {
	used, err := k.used(k.plain.account)
	if err != nil {
		return err
	}
	least, most := k.plain.charged()
	slowest := percentile(k.back, 100)
	k.figure("%d kills; serves again after p50 %s, at most %s", len(k.back), round(percentile(k.back, 50)), round(slowest))
	k.figure("plain: %s", &k.plain.tally)
	k.figure("plain: %d points in responses <= %d in the ledger <= %d with requests in flight at the kills", least, used, most)
	k.figure("with Idempotency-Key: %s", &k.once.tally)
	k.expectWithin(slowest, time.Second, "to serve again")
	k.expectContract(&k.plain.tally)
	k.expect(k.once.responses(409) == 0, "%d batches got 409, although the first attempt's process was killed", k.once.responses(409))
	return k.expectSettled(k.once)
}

// burstSize is more than two commit groups, so that charges wait while the
// responses of earlier groups are sent.
const burstSize = 600

// inBursts has many singles finish their work at one moment and kills the process
// within the next milliseconds. What is charged without a response was in progress.
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
	k.figure("%d kills within 30 ms after the lookup of %d singles: %d got a response, %d were charged; per kill at most %d charged without a response",
		rounds, burstSize, b.responded, b.charged, b.open)
	return nil
}

// A burst is a series of singles of one account that wait for the same lookup.
type burst struct {
	*kills
	account            account
	responded, charged int64
	open               int64 // charged without a response, at the worst kill
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
	open := used - b.charged - points
	b.responded, b.charged, b.open = b.responded+points, used, max(b.open, open)
	b.expect(open >= 0, "%d points of responses are not in the ledger", -open)
	b.expect(open <= burstSize, "one kill left %d points charged without a response; %d requests were in progress", open, burstSize)
	b.expectContract(&l.tally)
	return err
}

// patientFlags let a request wait for DNS for longer than the trial takes.
var patientFlags = []string{"--dns-timeout", "30s", "--batch-timeout", "30s"}

// killedWaiting kills the program while every request waits for a silent resolver.
// None is charged, and batches with an Idempotency-Key are served at once when they
// are sent again.
func killedWaiting(s *session) error {
	s.dns.RespondAll(asNamed)
	k, err := s.newKills(patientFlags...)
	if err != nil {
		return err
	}
	k.plain.clients, k.plain.next = 32, waiting
	k.once.make = func(int) request { return newBatch(silent, 3) }
	stop := k.start()
	defer stop()
	kills, asked := k.times(40), k.dns.Names()
	for range kills {
		pause(50*time.Millisecond, 200*time.Millisecond)
		if err := k.restart(patientFlags...); err != nil {
			return err
		}
	}
	k.process.Kill()
	stop()
	k.figure("%d kills; plain: %s", kills+1, &k.plain.tally)
	k.figure("with Idempotency-Key: %s", &k.once.tally)
	k.expect(k.dns.Names()-asked > kills, "only %d domains were looked up: the requests did not wait for the resolver", k.dns.Names()-asked)
	return k.expectNothingCharged()
}

// expectNothingCharged checks the ledger after the last kill, and then sends the
// batches with an Idempotency-Key again.
func (k *kills) expectNothingCharged() (err error) {
	for _, a := range []account{k.plain.account, k.once.account} {
		if err := k.expectLedger(a, 0, 0); err != nil {
			return err
		}
	}
	k.dns.Heal()
	if k.process, err = k.startAt(k.process.address, patientFlags...); err != nil {
		return err
	}
	return k.expectSettled(k.once)
}

// terminated repeatedly sends SIGTERM under load, while some batches wait for a
// silent resolver. Every request on an established connection gets a response, and
// the process exits with 0 within its grace.
func terminated(s *session) error {
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	s.dns.Respond("slow.bulk.example", mxtest.Silent)
	l := &load{account: a, clients: buyers, next: slowAndMixed}
	var ends []time.Duration
	for range s.times(20) {
		p, err := s.start()
		if err != nil {
			return err
		}
		l.at = always(p.address)
		stop := l.start(s.ctx)
		time.Sleep(s.span(time.Second))
		begun := time.Now()
		err = p.Terminate(trialTimeout)
		ends = append(ends, time.Since(begun))
		s.expectWithin(ends[len(ends)-1], grace, "the end after SIGTERM")
		stop()
		s.expect(err == nil, "SIGTERM: %v", err)
	}
	s.figure("%d times SIGTERM; the process ended after p50 %s, at most %s", len(ends), round(percentile(ends, 50)), round(percentile(ends, 100)))
	s.figure("%s", &l.tally)
	s.expect(len(l.cuts) == 0, "%d requests were cut off, such as: %v", len(l.cuts), l.firstCut())
	s.expectContract(&l.tally)
	least, most := l.charged()
	return s.expectLedger(a, least, most)
}

// slowAndMixed is mixed, with a domain that times out in some of the batches.
func slowAndMixed(client, n int) request {
	r := mixed(client, n)
	if client < 2 && r.batch {
		r.emails = append(r.emails, fmt.Sprintf("user%d@slow.bulk.example", n))
	}
	return r
}
