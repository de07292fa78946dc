package main

import (
	"encoding/csv"
	"fmt"
	"strings"
	"sync"
	"time"
)

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
	if _, err := v.operator("key", "revoke", "--account", u.account.email, id); err != nil {
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
