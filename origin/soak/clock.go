package main

import (
	"errors"
	"fmt"
	"time"
)

// clockSetBack sets the ledger's clock across the end of a month and back. The
// clock is the program's with SQLite and the server's with PostgreSQL. No month is
// refilled twice and no point is lost. A jump of years while the program runs does
// not advance the month.
func clockSetBack(s *session) error {
	clock, err := s.newClock()
	if err != nil {
		return err
	}
	defer clock.remove()
	m := &monthEnd{session: s, clock: clock}
	for _, part := range []func() error{m.oneAfterAnother, m.underLoad, m.bucket, m.farJump} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// A monthEnd is a service whose clock is near the end of a future month.
type monthEnd struct {
	*session
	clock *clock
	at    func(client int) string
}

// startBefore sets the clock to just before a month's end and restarts the
// processes, since a running one ignores a jump of a day or more.
func (m *monthEnd) startBefore(months int) (err error) {
	for _, p := range m.processes {
		p.Kill()
	}
	if err = m.before(months); err == nil {
		m.at, err = m.clock.startReplicas(m.session)
	}
	return err
}

// before and after set the clock near the end of a month, given as months from now.
// The ledger's months only advance, so each part of the trial uses a later one.
func (m *monthEnd) before(months int) error { return m.clock.set(firstOf(months).Add(-time.Minute)) }
func (m *monthEnd) after(months int) error  { return m.clock.set(firstOf(months).Add(time.Minute)) }

func firstOf(months int) time.Time {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
}

// oneAfterAnother buys on both sides of a month's end, with 100 points a month.
func (m *monthEnd) oneAfterAnother() error {
	if err := m.startBefore(1); err != nil {
		return err
	}
	a, err := m.newAccount("calm", unlimited, "100")
	if err != nil {
		return err
	}
	sum := int64(0)
	for _, step := range []struct {
		when       string
		set        func(int) error
		asks, sold int64
	}{
		{"before the month's end", m.before, 60, 60},
		{"after it: refilled", m.after, 30, 30},
		{"set back: the later month continues", m.before, 100, 70},
		{"after it again: no second refill", m.after, 10, 0},
		{"set back again", m.before, 10, 0},
	} {
		if err := step.set(1); err != nil {
			return err
		}
		sold := m.buy(a, step.asks)
		m.expect(sold == step.sold, "%s: %d points of %d requested were sold, want %d", step.when, sold, step.asks, step.sold)
		m.figure("%-42s %3d requested, %3d sold", step.when+":", step.asks, sold)
		sum += sold
	}
	return m.expectHistory(a, sum)
}

// buy requests points one at a time, from both replicas in turn, and returns how
// many were sold.
func (m *monthEnd) buy(a account, points int64) (sold int64) {
	clients := []*client{{address: m.at(0), key: a.key}, {address: m.at(1), key: a.key}}
	for n := range points {
		o := clients[n%2].send(single("jane@mail.example"))
		if o.status == 200 {
			sold++
		}
		m.expect(o.status == 200 || o.status == 429, "the response is %d: %s %v", o.status, o.body, o.err)
	}
	return sold
}

// underLoad sets the clock forward and back while clients buy all points.
func (m *monthEnd) underLoad() error {
	if err := m.startBefore(2); err != nil {
		return err
	}
	balance := int64(m.times(20_000))
	a, err := m.newAccount("busy", unlimited, fmt.Sprint(balance))
	if err != nil {
		return err
	}
	early := m.buy(a, 50)
	if err := m.after(2); err != nil {
		return err
	}
	rest := balance - m.buy(a, 50)
	l := &load{account: a, clients: buyers, at: m.at}
	l.next = func(_, n int) request { return usual(n) }
	stop := l.start(m.ctx)
	defer stop()
	flips := 0
	for ; l.responses(429) < 100 && m.ctx.Err() == nil; flips++ {
		set := []func(int) error{m.before, m.after}[flips%2]
		if err := set(2); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	m.figure("set %d times under load: %d points of %d sold; %s", flips, l.points, rest, &l.tally)
	m.expect(l.points == rest, "%d points were sold of %d", l.points, rest)
	m.expectContract(&l.tally)
	return m.expectHistory(a, early+balance)
}

// bucket sets the clock back by an hour while the token bucket is empty. The bucket
// must refill at once, not only after that hour.
func (m *monthEnd) bucket() error {
	if err := m.after(2); err != nil {
		return err
	}
	a, err := m.newAccount("bucket", "5", unlimited)
	if err != nil {
		return err
	}
	m.buy(a, 10)
	if err := m.clock.set(firstOf(2).Add(-time.Hour)); err != nil {
		return err
	}
	begun := time.Now()
	for m.buy(a, 1) == 0 && time.Since(begun) < 10*time.Second {
		time.Sleep(10 * time.Millisecond)
	}
	m.figure("set back by an hour with an empty bucket: served after %s", round(time.Since(begun)))
	m.expect(time.Since(begun) < 3*time.Second, "the account was refused for %s", round(time.Since(begun)))
	return nil
}

// farJump sets the clock to 2036 while the program runs. The month does not
// advance, so used points stay used, also once the clock is set back.
func (m *monthEnd) farJump() error {
	if err := m.startBefore(3); err != nil {
		return err
	}
	poor, err := m.newAccount("poor", unlimited, "20")
	if err != nil {
		return err
	}
	rich, err := m.newAccount("rich", unlimited, "20")
	if err != nil {
		return err
	}
	sold := m.buy(poor, 30)
	m.expect(sold == 20 && m.buy(rich, 5) == 5, "before the jump %d points of 20 were sold", sold)
	if err := m.clock.set(time.Date(2036, 6, 15, 12, 0, 0, 0, time.UTC)); err != nil {
		return err
	}
	during := m.buyDuring(poor, time.Second)
	if err := m.before(3); err != nil {
		return err
	}
	time.Sleep(time.Second + busy) // a replica's view is at most a second old
	after, rest := m.buy(poor, 10), m.buy(rich, 20)
	m.figure("with all 20 points used: %d sold in 2036, %d after the clock was set back; with 5 used: %d after it", during, after, rest)
	m.expect(during == 0 && after == 0, "%d points were sold in 2036 and %d after it: the month advanced", during, after)
	m.expect(rest == 15, "%d points were sold after the clock was set back, want 15", rest)
	return errors.Join(m.expectHistory(poor, 20), m.expectHistory(rich, 20))
}

// buyDuring requests points one at a time for a while.
func (m *monthEnd) buyDuring(a account, length time.Duration) (sold int64) {
	for begun := time.Now(); time.Since(begun) < length; time.Sleep(20 * time.Millisecond) {
		sold += m.buy(a, 2)
	}
	return sold
}

// expectHistory expects the usage history of all months to sum to sold.
func (m *monthEnd) expectHistory(a account, sold int64) error {
	history, err := m.history(a)
	m.expect(history == sold, "%s: the history sums to %d points, %d were sold", a.email, history, sold)
	return err
}
