package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// The trials of processes: they are killed, stopped in order, and several use one database.

// pause sleeps for a random time between least and most.
func pause(least, most time.Duration) { time.Sleep(least + rand.N(most-least)) }

// killed repeatedly kills the program under load. After each kill the ledger has
// the points of all responses, and at most those of the requests in flight besides.
// Batches with an Idempotency-Key are sent until they get a response. Each is
// charged once.
func killed(s *session) {
	plain, repeating := s.newAccount("plain", unlimited), s.newAccount("once", unlimited)
	p := s.start()
	at := always(p.address)
	singles, batches := plain.load(16, at, mixed), repeating.batches(at)
	stop := start(s.ctx, singles, batches)
	defer stop()
	var back []time.Duration
	for range s.times(60) {
		pause(50*time.Millisecond, 200*time.Millisecond)
		begun := time.Now()
		p.Kill()
		p = s.startAt(p.address)
		s.awaitService(singles)
		back = append(back, time.Since(begun))
		s.expectLedger(plain, repeating)
	}
	stop()
	least, most := plain.charged()
	s.figure("%d kills; serves again after p50 %s, at most %s", len(back), round(percentile(back, 50)),
		round(percentile(back, 100)))
	s.figure("%d points in responses <= %d in the ledger <= %d with requests in flight at the kills; %s", least,
		s.used(plain), most, singles)
	s.expectWithin(percentile(back, 100), time.Second, "to serve again")
	s.expect(batches.responses(409) == 0, "%d batches got 409, although the first attempt's process was killed",
		batches.responses(409))
	s.settle(batches)
	s.expectLedger(plain, repeating)
}

// terminated repeatedly sends SIGTERM under load, while some batches wait for a
// silent resolver. Every request on an established connection gets a response, and
// the process exits with 0 within its grace.
func terminated(s *session) {
	a := s.newAccount("plain", unlimited)
	l := a.load(16, nil, func(client, n int) request {
		r := mixed(client, n)
		if client < 2 && r.batch {
			r.emails = append(r.emails, fmt.Sprintf("user%d@%sd.bulk.example", n, silent))
		}
		return r
	})
	var ends []time.Duration
	for range s.times(20) {
		p := s.start()
		l.at = always(p.address)
		stop := start(s.ctx, l)
		time.Sleep(s.span(time.Second))
		begun := time.Now()
		err := p.Terminate(trialTimeout)
		ends = append(ends, time.Since(begun))
		stop()
		s.expect(err == nil, "SIGTERM: %v", err)
	}
	s.figure("%d times SIGTERM; the process ended after p50 %s, at most %s", len(ends), round(percentile(ends, 50)),
		round(percentile(ends, 100)))
	s.figure("%s", l)
	s.expectWithin(percentile(ends, 100), grace, "the end after SIGTERM")
	s.expect(len(l.cuts) == 0, "%d requests were cut off, such as: %v", len(l.cuts), l.cuts[:min(1, len(l.cuts))])
	s.expectLedger(a)
}

// sold has replicas on one database sell a balance exactly. All clients buy batches, and singles
// after a batch was refused, until the month's points are used up.
func sold(s *session, count int) {
	at := s.replicas(count)
	balance := int64(s.times(5000))
	a := s.newAccount("balance", fmt.Sprint(balance))
	const clients = 16
	var poor [clients]bool // whether a batch of the client was refused
	l := a.load(clients, at, func(client, n int) request {
		if poor[client] {
			return usual(client, n)
		}
		return batchOf(1+(client+n)%9, client*1_000_000+n)
	})
	l.after = func(client int, o outcome) (goOn bool) {
		poor[client] = poor[client] || o.status == 402
		claimed := o.status == 429 && o.header.Get("Retry-After") != "" // by requests in flight; else they are used up
		if claimed {                                                    // shorter than Retry-After, so that requests arrive while others are being charged
			time.Sleep(5 * time.Millisecond)
		}
		return o.status == 200 || o.status == 402 || claimed
	}
	l.run(s.ctx)
	least, most := a.charged()
	s.figure("balance of %d, %d clients: %s", balance, clients, l)
	s.expect(least == balance && most == balance, "%d points were sold (%d in doubt) of %d", least, most-least, balance)
	s.expectLedger(a)
}

// revoked revokes keys with the operator's command while clients use them on
// two replicas. No request that begins after the command has returned gets a 200,
// not even a replay: half of the clients repeat the same batch with an Idempotency-Key.
func revoked(s *session) {
	at := s.replicas(2)
	rounds, replays, margin := s.times(12), 0, time.Hour
	for n := range rounds {
		a := s.newAccount(fmt.Sprintf("revoked-%d", n), unlimited)
		l := a.load(8, at, func(client, n int) request {
			if client%4 < 2 {
				return mixed(client, n)
			}
			r := batchOf(3, client)
			r.once = fmt.Sprint("same-", client)
			return r
		})
		l.pace = time.Millisecond
		key := s.rows("key", "list", "--account", a.email)[0]
		stop := start(s.ctx, l)
		defer stop()
		pause(300*time.Millisecond, 500*time.Millisecond)
		s.operate("key", "revoke", "--account", a.email, fmt.Sprint(key.ID))
		returned := time.Now()
		time.Sleep(1200 * time.Millisecond) // a replica's view of a key is at most a second old
		stop()
		for _, g := range l.good {
			margin = min(margin, returned.Sub(g.begin))
		}
		replays += l.replays
		s.expect(l.responses(401) > 0, "no request got a 401 after the revocation")
		s.expectLedger(a)
	}
	s.figure("%d keys revoked; %d replays; the latest request with a 200 began %s before the command returned", rounds,
		replays, round(margin))
	s.expect(margin >= 0, "a request that began %s after the revocation got a 200", round(-margin))
	s.expect(replays > 0, "no idempotency record was replayed")
}
