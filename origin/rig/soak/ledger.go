package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// An account is an account with a key, and all loads that were sent with it.
type account struct {
	email, key string
	loads      []*load
}

const unlimited = "unlimited"

// newAccount creates an account with so many points a month, and a key, with the operator's
// commands.
func (s *session) newAccount(name, points string) *account {
	email := name + "@soak.test"
	key, err := s.operator().NewAccount(s.ctx, email, unlimited, points)
	s.check(err)
	return &account{email: email, key: key}
}

// operator runs commands of the program on the session's database.
func (s *session) operator() origintest.Operator {
	return origintest.Operator{Program: s.binary, Database: s.database}
}

// A row is a line of the output of the operator's commands.
type row struct {
	ID           int64
	Email, Name  string // of an account, of a key
	Used, Points any    // Used is of an account; Points are of a day, in the history
}

// rows returns the output of a command.
func (s *session) rows(command ...string) (list []row) {
	text, err := s.operator().Run(s.ctx, append(command, "--to", "ndjson")...)
	s.check(err)
	for line := range strings.Lines(text) {
		var r row
		s.check(json.Unmarshal([]byte(line), &r))
		list = append(list, r)
	}
	return list
}

// used returns the account's points of this month.
func (s *session) used(a *account) (sum int64) {
	for _, r := range s.rows("account", "list") {
		if r.Email == a.email {
			sum += int64(r.Used.(float64))
		}
	}
	return sum
}

// expectLedger expects of each account that its points are those that the responses to its loads
// reported, and at most those of requests without a response besides; that its history sums to
// them; and that the responses are as the contract requires. SQLite's file must be intact. It
// pauses the loads meanwhile.
func (s *session) expectLedger(accounts ...*account) {
	for _, a := range accounts {
		for _, l := range a.loads {
			l.gate.Lock()
			defer l.gate.Unlock()
		}
	}
	for _, a := range accounts {
		least, most := a.charged()
		used, history := s.used(a), int64(0)
		for _, r := range s.rows("usage", "--account", a.email, "--first", "1970-01-01", "--last", "2999-12-31") {
			history += int64(r.Points.(float64))
		}
		s.expect(used >= least, "%s: the ledger has %d points, responses reported %d", a.email, used, least)
		s.expect(used <= most, "%s: the ledger has %d points, at most %d can have been charged", a.email, used, most)
		s.expect(used == history, "%s: the history sums to %d points, the account has %d", a.email, history, used)
		for _, l := range a.loads {
			for _, err := range l.odd[:min(3, len(l.odd))] {
				s.expect(false, "%s: %v", a.email, err)
			}
			l.odd = nil
		}
	}
	if s.kind == sqlite {
		db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.database,
			"sqlite:")+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)")
		s.check(err)
		defer db.Close()
		var result string
		s.check(db.QueryRowContext(s.ctx, "PRAGMA integrity_check").Scan(&result))
		s.expect(result == "ok", "integrity check: %s", result)
	}
}

// awaitBalance waits until the ledger has given back the points of requests whose outcome was
// unknown to the program.
func (s *session) awaitBalance(a *account) {
	_, most := a.charged()
	for deadline := time.Now().Add(3 * time.Second); s.used(a) > most && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
}

// settleTimeout is longer than the second of a commit, and shorter than a lease on
// the Idempotency-Key would be.
const settleTimeout = 5 * time.Second

// settle sends each batch of a stopped load with Idempotency-Keys that got no response until it is
// charged. Then its responses and the ledger agree exactly, whatever was killed or cut. No lease
// has to expire first: a batch whose process was killed is served at once.
func (s *session) settle(l *load) {
	c := &client{address: l.at(0), key: l.account.key, keepAlive: true}
	defer c.close()
	open := len(l.unsettled)
	for id, r := range l.unsettled {
		for deadline := time.Now().Add(settleTimeout); ; time.Sleep(10 * time.Millisecond) {
			o := l.send(c, id, r)
			if o.status == 200 {
				break
			}
			if time.Now().After(deadline) {
				s.check(fmt.Errorf("a batch with an Idempotency-Key is not settled after %s; the last response is %d: %s",
					settleTimeout, o.status, o.body))
			}
		}
	}
	s.figure("with Idempotency-Key: %d batches sent again at the end; then %d points in responses = ledger; %s", open,
		l.points, l)
}
