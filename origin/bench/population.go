package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
)

// A population is a service whose ledger has many accounts and keys.
type population struct {
	*service
	firstKeys []string // one of each account
	allKeys   []string
}

// populate makes the population: manyAccounts accounts with keysEach keys.
func (l *lab) populate(ctx context.Context) (p population, err error) {
	url, err := l.sqliteDatabase()
	if err != nil {
		return p, err
	}
	books, err := ledger.Open(ctx, url)
	if err != nil {
		return p, err
	}
	defer books.Close()
	keys, err := createAll(ctx, books)
	if err != nil {
		return p, err
	}
	for _, k := range keys {
		p.firstKeys, p.allKeys = append(p.firstKeys, k[0]), append(p.allKeys, k...)
	}
	if p.service, err = l.newServiceOn(url, "population"); err != nil {
		return p, err
	}
	return p, p.useAll()
}

// useAll charges each key once, since its first charge reads its rows.
func (p population) useAll() error {
	d := load{url: p.url + single, keys: p.allKeys, connections: 32, span: time.Second}
	for used := int64(0); used < int64(len(d.keys)); {
		s := d.send()
		if _, err := s.rate(); err != nil {
			return err
		}
		used += s.Requests
		next := s.Requests % int64(len(d.keys))
		d.keys = slices.Concat(d.keys[next:], d.keys[:next])
	}
	return nil
}

// createAll creates the accounts, some at a time, and returns the keys of each.
func createAll(ctx context.Context, books *ledger.Ledger) ([][]string, error) {
	keys, numbers := make([][]string, manyAccounts), make(chan int)
	const workers = 16
	failures := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for n := range numbers {
				if failures[w] == nil {
					keys[n], failures[w] = createAccount(ctx, books, n)
				}
			}
		})
	}
	for n := range manyAccounts {
		numbers <- n
	}
	close(numbers)
	all.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func createAccount(ctx context.Context, books *ledger.Ledger, n int) (keys []string, err error) {
	none := ledger.Limit(ledger.Unlimited)
	a, err := books.CreateAccount(ctx, fmt.Sprintf("account%d@bench.test", n), ledger.Terms{Rate: &none, Points: &none})
	if err != nil {
		return nil, err
	}
	for k := range keysEach {
		secret, _, err := books.CreateKey(ctx, a.ID, fmt.Sprint("key", k), ledger.KeyTerms{})
		if err != nil {
			return nil, err
		}
		keys = append(keys, secret)
	}
	return keys, nil
}
