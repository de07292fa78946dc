package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Access is what opening a database may do to it.
type Access int

const (
	Create   Access = iota // and migrate
	Existing               // only one that has a ledger of this schema
	ReadOnly               // the same, and nothing is written
)

// An Opener opens the database at url; see Open.
type Opener func(ctx context.Context, url string, clock func() time.Time, a Access) (Store, error)

var openers = map[string]Opener{}

// Register makes Open use an opener for URLs of a scheme. Drivers call it when they are
// imported.
func Register(scheme string, open Opener) { openers[scheme] = open }

func openStore(ctx context.Context, url string, clock func() time.Time, a Access) (Store, error) {
	scheme, _, _ := strings.Cut(url, ":")
	if open := openers[scheme]; open != nil {
		return open(ctx, url, clock, a)
	}
	switch scheme {
	case "sqlite", "postgres", "postgresql":
		return nil, fmt.Errorf("this program does not import the store's driver for %s databases", scheme)
	}
	return nil, errors.New(`the database's URL must be "sqlite:PATH" or "postgres://USER@HOST/NAME"`)
}

// Ping runs a query on s. It is Store.Ping of the drivers.
func Ping(ctx context.Context, s Store) error {
	var plans int
	return s.Query(ctx, Statement{Name: "ping", Scan: func(r Row) error { return r.Scan(&plans) }})
}
