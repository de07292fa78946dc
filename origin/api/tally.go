package api

import (
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/result"
	"github.com/addrspec/addrspec/wasm/host"
)

// tallyFacts adds the facts of one address to found.
func tallyFacts(found *ledger.Found, facts *host.Facts) {
	f := result.Scan(facts)
	found.Valid += one(f.Valid)
	found.Invalid += one(!f.Valid)
	found.Role += one(f.Role)
	found.Gibberish += one(f.Gibberish)
	found.Disposable += one(f.Disposable)
	found.Public += one(f.Public)
	found.Relay += one(f.Relay)
	found.Typo += one(f.Typo)
}

// one returns 1 for true and 0 for false.
func one(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// tally adds a finished item to found.
func (i *item) tally(found *ledger.Found) {
	if i.lookup.err != nil {
		found.LookupErrors++
		return
	}
	tallyFacts(found, &i.facts)
}
