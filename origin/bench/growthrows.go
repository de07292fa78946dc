package main

import (
	"context"
	"fmt"
)

// growthRows compare the service with itself, with little data and with much.
func growthRows() []row {
	return []row{
		{"growth: lists, address on no list", "ns", "a tenth of the lists", atMost(1.3), growLists},
		{fmt.Sprintf("growth: GET, %d accounts, c = 32", manyAccounts), "requests/s", "one account", atLeast(1 / 1.3), growAccounts},
		{fmt.Sprintf("growth: GET, %d keys, c = 32", manyAccounts*keysEach), "requests/s", "one key", atLeast(1 / 1.3), growKeys},
	}
}

const (
	manyAccounts = 1000
	keysEach     = 10
)

// growLists checks an address whose domain is looked up in vain, in the lists as they
// are and in a tenth of them. Ten times the lists do not fit their format.
func growLists(ctx context.Context, l *lab) (p pair, err error) {
	engine, err := openModule()
	if err != nil {
		return p, err
	}
	small, err := l.smallModule()
	if err != nil {
		return p, err
	}
	ours, err := wazeroCall(engine, moduleAddress)
	if err != nil {
		return p, err
	}
	peer, err := wazeroCall(small, moduleAddress)
	if err != nil {
		return p, err
	}
	return beside(l.span/2, ours, peer), nil
}

func growAccounts(ctx context.Context, l *lab) (pair, error) {
	return l.grow(ctx, func(p population) []string { return p.firstKeys })
}

func growKeys(ctx context.Context, l *lab) (pair, error) {
	return l.grow(ctx, func(p population) []string { return p.allKeys })
}

// grow compares a load with some keys of a large ledger, in turn, with a load on a
// service that has one account and one key.
func (l *lab) grow(ctx context.Context, keys func(population) []string) (p pair, err error) {
	large, err := l.population()
	if err != nil {
		return p, err
	}
	small, err := l.sqlite()
	if err != nil {
		return p, err
	}
	ours, err := l.costOf(ctx, large.service, load{url: single, keys: keys(large), connections: 32})
	if err != nil {
		return p, err
	}
	peer, err := l.costOf(ctx, small, load{url: single, connections: 32})
	return ours.besidePeer(peer, 1), err
}
