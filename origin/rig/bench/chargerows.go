package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// chargeRows show what one PostgreSQL carries, without HTTP and the module: this process
// has a ledger for each replica, which charge accounts at random. The processor time is
// that of PostgreSQL for a charge.
func chargeRows() (list []row) {
	for _, w := range []int{1, 3} {
		for _, accounts := range []int{1, 100, mostAccounts} {
			if w == 1 && accounts == 1 {
				continue // the peer
			}
			list = append(list, row{fmt.Sprintf("charges, PostgreSQL, %d accounts, %d ledgers", accounts, w), "charges/s", "1 account, 1 ledger", target{},
				func(ctx context.Context, l *lab) (pair, error) {
					ours, err := l.charges(ctx, w, accounts)
					if err != nil {
						return pair{}, err
					}
					peer, err := l.charges(ctx, 1, 1)
					return ours.besidePeer(peer, 1), err
				}})
		}
	}
	return list
}

const (
	mostAccounts  = 10_000
	chargeCallers = 256 // of each ledger; as many as a commit group has charges
)

// charged is a PostgreSQL with mostAccounts accounts, and ledgers that are open on it.
type charged struct {
	ledgers []*ledger.Ledger
	secrets []string // of a key of each account
}

func (l *lab) startCharged() (c charged, err error) {
	ctx := context.Background()
	url, err := l.postgresDatabase()
	if err != nil {
		return c, err
	}
	for range 3 {
		books, err := ledger.Open(ctx, url)
		if err != nil {
			return c, err
		}
		l.later(func() { books.Close() })
		c.ledgers = append(c.ledgers, books)
	}
	keys, err := createAll(ctx, c.ledgers[0], mostAccounts, 1)
	for _, k := range keys {
		c.secrets = append(c.secrets, k[0])
	}
	return c, err
}

// charges measures how many charges a second some ledgers make, after a time in which they
// read the accounts.
func (l *lab) charges(ctx context.Context, ledgers, accounts int) (c cost, err error) {
	all, err := l.charged()
	if err != nil {
		return c, err
	}
	all.ledgers, all.secrets = all.ledgers[:ledgers], all.secrets[:accounts]
	if _, err := all.charge(ctx, l.span); err != nil {
		return c, err
	}
	before, err := l.postgresTime(ctx)
	if err != nil {
		return c, err
	}
	begun := time.Now()
	made, err := all.charge(ctx, l.span)
	took := time.Since(begun)
	after, failed := l.postgresTime(ctx)
	if err := errors.Join(err, failed); err != nil {
		return c, err
	}
	return cost{rate: made / took.Seconds(), used: perUnit(after-before, made)}, nil
}

// charge has callers charge accounts for a while, and returns how many charges they made.
func (c charged) charge(ctx context.Context, span time.Duration) (made float64, err error) {
	return repeat(span, chargeCallers*len(c.ledgers), func(caller int) error {
		return chargeOnce(ctx, c.ledgers[caller%len(c.ledgers)], c.secrets[rand.IntN(len(c.secrets))])
	})
}

func chargeOnce(ctx context.Context, books *ledger.Ledger, secret string) error {
	r, d, err := books.Begin(ctx, secret, "")
	if r != nil {
		defer r.End()
		if d, err = r.Claim(1, nil); err == nil && d.Kind == ledger.Good {
			d, err = r.Charge(ledger.Charge{Points: 1})
		}
	}
	if err == nil && d.Kind != ledger.Good {
		err = fmt.Errorf("a charge was refused: %v", d.Kind)
	}
	return err
}

// postgresTime returns the processor time that PostgreSQL has used so far.
func (l *lab) postgresTime(ctx context.Context) (sum time.Duration, err error) {
	server, err := l.postgresServer()
	if err != nil {
		return 0, err
	}
	processes, err := server.Processes(ctx)
	for _, pid := range processes {
		sum += processorTime(pid)
	}
	return sum, err
}
