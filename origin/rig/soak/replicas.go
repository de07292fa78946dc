package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// Replicas on one database sell a balance exactly, and share one token bucket.
func twoReplicas(s *session) error   { return s.replicas(2) }
func threeReplicas(s *session) error { return s.replicas(3) }

func (s *session) replicas(count int) error {
	r, err := s.startReplicas(count)
	if err != nil {
		return err
	}
	if err := s.sellOut(r.byClient); err != nil {
		return err
	}
	return s.flood(r.byClient, 40, s.span(8*time.Second))
}

// replicas are processes on one database.
type replicas struct{ processes []*process }

func (s *session) startReplicas(count int, flags ...string) (*replicas, error) {
	r := &replicas{}
	for range count {
		p, err := s.start(flags...)
		if err != nil {
			return nil, err
		}
		r.processes = append(r.processes, p)
	}
	return r, nil
}

// byClient returns the same replica's address for each request of a client. A
// restarted replica keeps its address.
func (r *replicas) byClient(client int) string {
	return r.processes[client%len(r.processes)].address
}

// addresses returns the addresses of the replicas.
func (r *replicas) addresses() (list []string) {
	for n := range r.processes {
		list = append(list, r.byClient(n))
	}
	return list
}

// anywhere returns a random one of the addresses for each connection.
func anywhere(addresses []string) func(int) string {
	return func(int) string { return addresses[rand.IntN(len(addresses))] }
}

// restartOne kills a random replica and restarts it at once.
func (s *session) restartOne(r *replicas) error {
	n := rand.IntN(len(r.processes))
	r.processes[n].Kill()
	p, err := s.startAt(r.processes[n].address)
	if err == nil {
		r.processes[n] = p
	}
	return err
}

// claimedPause is shorter than the second of Retry-After, so that the trial is
// short and requests arrive while others are being charged.
const claimedPause = 5 * time.Millisecond

// sellOut has all buyers buy batches, and singles after a batch was refused, until
// the month's points are used up.
func (s *session) sellOut(at func(int) string) error {
	balance := int64(s.times(5000))
	a, err := s.newAccount("balance", unlimited, fmt.Sprint(balance))
	if err != nil {
		return err
	}
	b := newSale(a, at)
	b.runOut(s.ctx)
	least, most := b.charged()
	s.expect(least == balance && most == balance, "%d points were sold (%d in doubt) of %d", least, most-least, balance)
	s.expectContract(&b.tally)
	s.figure("balance of %d, %d clients: %s", balance, buyers, &b.tally)
	return s.expectLedger(a, balance, balance)
}

// A sale is a load of buyers on one account.
type sale struct {
	load
	poor [buyers]bool // by client: whether a batch was refused
}

func newSale(a account, at func(int) string) *sale {
	b := &sale{load: load{account: a, clients: buyers, at: at}}
	b.next, b.finished = b.buy, b.record
	return b
}

func (b *sale) buy(client, n int) request {
	if b.poor[client] {
		return usual(n)
	}
	return batchOf(1+(client+n)%9, client*1_000_000+n)
}

func (b *sale) record(client int, _ request, o outcome) (goOn bool) {
	b.poor[client] = b.poor[client] || o.status == 402
	if o.claimed() {
		time.Sleep(claimedPause)
	}
	return o.status == 200 || o.status == 402 || o.claimed()
}

// replicasKilled kills random ones of three replicas while two balances are sold.
// One is sold to plain singles and to batches with an Idempotency-Key, the other to
// such batches alone. With those the ledger and the responses agree exactly.
func replicasKilled(s *session) error {
	r, err := s.startReplicas(3)
	if err != nil {
		return err
	}
	k, err := s.newKilledSale(anywhere(r.addresses()))
	if err != nil {
		return err
	}
	stop := k.start()
	defer stop()
	kills := s.times(40)
	for range kills {
		pause(50*time.Millisecond, 150*time.Millisecond)
		if err := s.restartOne(r); err != nil {
			return err
		}
	}
	stop()
	s.figure("%d kills of three replicas; meanwhile %d points sold of %d, and %d of %d", kills,
		k.singles.points+k.batches.points, k.balance, k.exact.points, k.exactBalance)
	return k.finish()
}

// killedSale is the two balances and their buyers. The shared balance is used up
// during the kills, the other one is not.
type killedSale struct {
	*session
	balance, exactBalance int64
	singles               *load     // of the shared balance
	batches               *onceLoad // of the shared balance
	exact                 *onceLoad // of the other balance
}

func (s *session) newKilledSale(at func(int) string) (*killedSale, error) {
	balance, exactBalance := int64(s.times(4000)), int64(s.times(10_000))
	shared, err := s.newAccount("shared", unlimited, fmt.Sprint(balance))
	if err != nil {
		return nil, err
	}
	exact, err := s.newAccount("exact", unlimited, fmt.Sprint(exactBalance))
	if err != nil {
		return nil, err
	}
	singles := &load{account: shared, clients: 8, at: at}
	singles.next = func(_, n int) request { return usual(n) }
	singles.finished = func(_ int, _ request, o outcome) bool { return !o.usedUp() }
	return &killedSale{s, balance, exactBalance, singles, newOnceLoad(shared, at), newOnceLoad(exact, at)}, nil
}

func (k *killedSale) start() (stop func()) {
	stops := []func(){k.singles.start(k.ctx), k.batches.start(k.ctx), k.exact.start(k.ctx)}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// finish settles the batches, sells the rest of both balances and checks the
// ledger.
func (k *killedSale) finish() error {
	for _, o := range []*onceLoad{k.batches, k.exact} {
		if err := o.settle(); err != nil {
			return err
		}
	}
	if err := k.sellRest(); err != nil {
		return err
	}
	k.figure("singles of the shared balance: %s", &k.singles.tally)
	k.figure("its batches with Idempotency-Key: %s", &k.batches.tally)
	k.figure("batches with Idempotency-Key alone: %s", &k.exact.tally)
	for _, t := range []*tally{&k.singles.tally, &k.batches.tally, &k.exact.tally} {
		k.expectContract(t)
	}
	return k.expectSold()
}

// sellRest buys points one at a time until they are used up. The ledger then has
// the whole balance, so any error shows as a difference from the responses.
func (k *killedSale) sellRest() error {
	for _, l := range []*load{k.singles, &k.exact.load} {
		c := &client{address: l.at(0), key: l.account.key, keepAlive: true}
		for o := (outcome{status: 200}); !o.usedUp(); {
			if o.status != 200 || k.ctx.Err() != nil {
				return fmt.Errorf("the rest of the balance: the response is %d: %s", o.status, o.body)
			}
			r := single("jane@mail.example")
			o = c.send(r)
			l.count(r, o)
		}
		c.close()
	}
	return nil
}

// expectSold compares the responses with the balances. Only singles that were cut
// may have been charged without a response.
func (k *killedSale) expectSold() error {
	responded := k.singles.points + k.batches.points
	k.figure("shared: %d points in responses <= %d in the ledger <= %d with those cut", responded, k.balance, responded+k.singles.doubtful)
	k.expect(responded <= k.balance, "responses reported %d points of a balance of %d", responded, k.balance)
	k.expect(responded+k.singles.doubtful >= k.balance, "%d points were charged, but only %d are in responses or were cut", k.balance, responded+k.singles.doubtful)
	k.expect(k.exact.points == k.exactBalance, "batches with Idempotency-Key alone: %d points in responses, %d in the ledger", k.exact.points, k.exactBalance)
	return errors.Join(
		k.expectLedger(k.singles.account, k.balance, k.balance),
		k.expectLedger(k.exact.account, k.exactBalance, k.exactBalance))
}

// revokedKeys revokes keys with the operator's command while clients use them on
// two replicas. No request that begins after the command has returned gets a 200,
// not even a replay.
func revokedKeys(s *session) error {
	r, err := s.startReplicas(2)
	if err != nil {
		return err
	}
	v := &revocation{session: s, at: r.byClient}
	rounds := s.times(12)
	for n := range rounds {
		if err := v.round(fmt.Sprintf("revoked-%d", n)); err != nil {
			return err
		}
	}
	s.figure("%d keys revoked: %d responses with 200 before, %d of them replays; %d with 401 after", rounds, v.good, v.replays, v.unknown)
	s.figure("the latest request with a 200 began %s before the command returned", round(v.margin))
	s.expect(v.replays > 0, "no idempotency record was replayed")
	s.expect(v.unmarked == 0, "%d of %d replays lack Idempotency-Replayed: true", v.unmarked, v.replays)
	return nil
}

// A revocation is a series of keys revoked under load.
type revocation struct {
	*session
	at                     func(int) string
	good, replays, unknown int           // responses
	unmarked               int           // replays without the header
	margin                 time.Duration // from the last 200 to the command's return
}

func (v *revocation) round(name string) error {
	u, err := v.newUser(name)
	if err != nil {
		return err
	}
	id, err := v.keyID(u.account)
	if err != nil {
		return err
	}
	stop := u.start(v.ctx)
	defer stop()
	pause(300*time.Millisecond, 500*time.Millisecond)
	if _, err := v.operator().Run(v.ctx, "key", "revoke", "--account", u.account.email, id); err != nil {
		return err
	}
	returned := time.Now()
	time.Sleep(1200 * time.Millisecond) // a replica's view of a key is at most a second old
	stop()
	v.judge(u, returned)
	return v.expectLedger(u.account, u.points-u.replayed, u.points-u.replayed)
}

func (v *revocation) judge(u *user, returned time.Time) {
	v.expect(!u.lastGood.After(returned), "a request that began %s after the revocation got a 200", round(u.lastGood.Sub(returned)))
	v.expect(u.responses(401) > 0, "no request got a 401 after the revocation")
	v.expectContract(&u.tally)
	if margin := returned.Sub(u.lastGood); v.margin == 0 || margin < v.margin {
		v.margin = margin
	}
	v.good += u.responses(200)
	v.replays += u.replays
	v.unmarked += u.unmarked
	v.unknown += u.responses(401)
}

// A user is a load with one key. Half of its clients repeat the same batch with an
// Idempotency-Key.
type user struct {
	load
	own      sync.Mutex      // guards the fields below
	lastGood time.Time       // when the latest request with a 200 began
	stored   map[string]bool // by Idempotency-Key: whether a record is stored
	replays  int
	unmarked int   // replays without Idempotency-Replayed
	replayed int64 // points of replays, which cost nothing
}

func (v *revocation) newUser(name string) (*user, error) {
	a, err := v.newAccount(name, unlimited, unlimited)
	u := &user{stored: map[string]bool{}}
	u.load = load{account: a, clients: 8, at: v.at, finished: u.record}
	u.next = func(client, n int) request {
		if client%4 < 2 {
			return mixed(client, n)
		}
		r := batchOf(3, client)
		r.once = fmt.Sprint("same-", client)
		return r
	}
	return u, err
}

func (u *user) record(_ int, r request, o outcome) (goOn bool) {
	u.own.Lock()
	defer u.own.Unlock()
	if o.status != 200 {
		time.Sleep(time.Millisecond)
		return true
	}
	if o.begun.After(u.lastGood) {
		u.lastGood = o.begun
	}
	if r.once != "" {
		u.recordReplay(r, o)
	}
	return true
}

func (u *user) recordReplay(r request, o outcome) {
	if u.stored[r.once] {
		u.replays++
		u.replayed += r.cost()
		if o.header.Get("Idempotency-Replayed") != "true" {
			u.unmarked++
		}
	}
	u.stored[r.once] = true
}

// keyID returns the number of the key that newAccount created.
func (s *session) keyID(a account) (string, error) {
	text, err := s.operator().Run(s.ctx, "key", "list", "--account", a.email, "--to", "csv")
	if err != nil {
		return "", err
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	for _, row := range rows {
		if err == nil && len(row) > 1 && row[1] == "test" {
			return row[0], nil
		}
	}
	return "", fmt.Errorf("key list does not show the key: %w %s", err, text)
}
