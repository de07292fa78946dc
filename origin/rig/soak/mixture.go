package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// The trial of everything at once: clients that leave, and the operator's changes, while the
// database's connections are cut, or its disk is full now and then and processes are killed.

// An ending is a command of the operator.
type ending struct {
	change []string
	ofKey  bool // else of the account
}

// endings are the changes after which a replica gives no 200 to a key that had it.
var endings = []ending{
	{[]string{"key", "revoke"}, true},
	{[]string{"key", "rotate", "--grace", "0s"}, true},
	{[]string{"account", "suspend"}, false},
	{[]string{"account", "delete", "--yes"}, false},
}

// together has the operator change limits, and end keys and accounts in use, while nothing is
// quiet. No request that begins after such a change gets a 200, no limit is exceeded, and at the
// end every account's sums agree.
func together(s *session, count int) {
	dir, flags := "", []string{"--database", s.database + "&application_name=replica"}
	if s.kind == sqlite {
		var unmount func()
		dir, unmount = s.smallDisk()
		defer unmount()
		flags = nil
	}
	highest := s.times(40_000)
	accounts := []*account{s.newAccount("plain", unlimited), s.newAccount("once", unlimited), s.newAccount("limited", fmt.Sprint(highest))}
	limited := accounts[2]
	var used []*account // by the rounds; made now, because later the disk may be full
	for n := range s.times(60) {
		used = append(used, s.newAccount(fmt.Sprint("round-", n), unlimited))
	}
	at := s.replicas(count, flags...)
	replicas := s.processes[:count:count]
	batches := accounts[1].batches(at)
	loads := []*load{batches, accounts[0].load(8, at, mixed), limited.load(4, at, func(client, n int) request {
		return batchOf(1+n%9, client*1_000_000+n)
	})}
	for _, l := range loads {
		l.leaves, l.pace = true, time.Millisecond
	}
	stop := start(s.ctx, loads...)
	defer stop()
	ctx, calm := context.WithCancel(s.ctx)
	defer calm()
	cut := make(chan error, 1)
	go func() { cut <- s.cutHalf(ctx) }()

	margin := time.Hour
	for n, a := range used {
		l := a.load(4, at, singlesAndReplays)
		l.pace = time.Millisecond
		stop := start(s.ctx, l)
		defer stop()
		pause(300*time.Millisecond, 500*time.Millisecond)
		if s.kind == sqlite {
			empty := s.fill(dir)
			pause(100*time.Millisecond, 500*time.Millisecond)
			empty()
			victim := rand.IntN(count)
			replicas[victim].Kill()
			replicas[victim] = s.startAt(replicas[victim].address)
		}
		s.operate("account", "change", "--account", limited.email, "--points", fmt.Sprint(highest-rand.IntN(highest/2)))
		ending := endings[n%len(endings)]
		returned := s.end(a, ending)
		time.Sleep(1200 * time.Millisecond) // a replica's view of a key is at most a second old
		stop()
		for _, g := range l.good {
			margin = min(margin, returned.Sub(g.begin))
		}
		s.expect(l.responses(200) > 0 && l.responses(401) > 0, "%s: %s", strings.Join(ending.change, " "), l)
		if ending.change[1] != "delete" {
			accounts = append(accounts, a)
		}
	}
	calm()
	s.check(<-cut)
	s.awaitService(batches)
	stop()
	s.settle(batches)
	for _, a := range accounts {
		s.awaitGivenBack(a)
	}
	s.expectLedger(accounts...)
	sum := int64(0)
	for _, a := range accounts {
		sum += s.used(a)
	}
	s.figure("%d changes; the latest request with a 200 began %s before one returned; %d points, every sum exact unless said below",
		len(used), round(margin), sum)
	s.expect(margin >= 0, "a request that began %s after a change got a 200", round(-margin))
	s.expect(s.used(limited) <= int64(highest), "%d points were sold, over the highest limit of %d", s.used(limited), highest)
}

// singlesAndReplays has every second client send the same batch with an Idempotency-Key again and again.
func singlesAndReplays(client, n int) request {
	if client%2 == 0 {
		return mixed(client, n)
	}
	r := batchOf(3, client)
	r.once = fmt.Sprint("same-", client)
	return r
}

// end makes an account or its key unusable, and returns when that was done.
func (s *session) end(a *account, e ending) (returned time.Time) {
	change := append(e.change[:len(e.change):len(e.change)], "--account", a.email)
	if e.ofKey {
		change = append(change, fmt.Sprint(s.rows("key", "list", "--account", a.email)[0].ID))
	}
	s.operate(change...)
	return time.Now()
}

// cutHalf ends half of the replicas' connections to PostgreSQL again and again.
func (s *session) cutHalf(ctx context.Context) error {
	if s.kind != postgres {
		return nil
	}
	pg, err := s.postgres()
	for err == nil && ctx.Err() == nil {
		err = pg.Exec(s.ctx, pg.URL("public"),
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'replica' AND random() < 0.5")
		pause(0, 100*time.Millisecond)
	}
	return err
}
