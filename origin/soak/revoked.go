package main

import (
	"encoding/csv"
	"fmt"
	"strings"
	"sync"
	"time"
)

// revokedKeys revokes keys by the operator's command while clients use them on
// two replicas. No request that begins after the command returned gets a 200,
// replays of stored answers included.
func revokedKeys(s *scene) error {
	r, err := s.startReplicas(2)
	if err != nil {
		return err
	}
	v := &revocation{scene: s, at: r.byClient}
	rounds := s.times(12)
	for n := range rounds {
		if err := v.round(fmt.Sprintf("revoked-%d", n)); err != nil {
			return err
		}
	}
	s.figure("%d keys revoked: %d answers of 200 before, %d of them replays; %d of 401 after", rounds, v.good, v.replays, v.unknown)
	s.figure("the last 200 began %s before the command returned, at the latest", round(v.margin))
	s.expect(v.replays > 0, "no stored answer was replayed")
	s.expect(v.unmarked == 0, "%d of %d replays lack Idempotency-Replayed: true", v.unmarked, v.replays)
	return nil
}

// A revocation is keys revoked under load.
type revocation struct {
	*scene
	at                     func(int) string
	good, replays, unknown int           // answers
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
	if _, err := v.operator("key", "revoke", "--account", u.account.email, id); err != nil {
		return err
	}
	returned := time.Now()
	time.Sleep(1200 * time.Millisecond) // what a replica remembers of a key is at most a second old
	stop()
	v.judge(u, returned)
	return v.expectBooks(u.account, u.points-u.replayed, u.points-u.replayed)
}

func (v *revocation) judge(u *user, returned time.Time) {
	v.expect(!u.lastGood.After(returned), "a request that began %s after the revocation got a 200", round(u.lastGood.Sub(returned)))
	v.expect(u.answers(401) > 0, "no request got a 401 after the revocation")
	v.expectContract(&u.tally)
	if margin := returned.Sub(u.lastGood); v.margin == 0 || margin < v.margin {
		v.margin = margin
	}
	v.good += u.answers(200)
	v.replays += u.replays
	v.unmarked += u.unmarked
	v.unknown += u.answers(401)
}

// A user is clients with one key, of whom half send the same batch again and
// again with an Idempotency-Key.
type user struct {
	load
	own      sync.Mutex
	lastGood time.Time       // when the last request began that got a 200
	stored   map[string]bool // by Idempotency-Key: answered once
	replays  int
	unmarked int   // replays without the header that says so
	replayed int64 // points of replays, which cost nothing
}

func (v *revocation) newUser(name string) (*user, error) {
	a, err := v.newAccount(name, unlimited, unlimited)
	u := &user{stored: map[string]bool{}}
	u.load = load{account: a, clients: 8, at: v.at, finished: u.learn}
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

func (u *user) learn(_ int, r request, o outcome) (goOn bool) {
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
		u.learnReplay(r, o)
	}
	return true
}

func (u *user) learnReplay(r request, o outcome) {
	if u.stored[r.once] {
		u.replays++
		u.replayed += r.cost()
		if o.header.Get("Idempotency-Replayed") != "true" {
			u.unmarked++
		}
	}
	u.stored[r.once] = true
}

// keyID is the number of the key that newAccount made.
func (s *scene) keyID(a account) (string, error) {
	text, err := s.operator("key", "list", "--account", a.email, "--to", "csv")
	if err != nil {
		return "", err
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	for _, row := range rows {
		if err == nil && len(row) > 1 && row[1] == "soak" {
			return row[0], nil
		}
	}
	return "", fmt.Errorf("key list does not show the key soak: %w %s", err, text)
}
