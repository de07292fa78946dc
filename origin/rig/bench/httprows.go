package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// A database is one that the service keeps its ledger in.
type database struct {
	name   string
	single float64 // target of the ratio of a GET
	start  func(*lab) (*service, error)
}

var databases = []database{
	{"SQLite", 0.5, (*lab).sqlite},
	{"PostgreSQL", 0.4, (*lab).postgres},
}

// singles are GETs of an address whose MX is cached, each charged durably before its
// response.
func singles() (list []row) {
	for _, d := range databases {
		for _, c := range []int{32, 128, 512} {
			list = append(list, row{fmt.Sprintf("GET, %s, c = %d", d.name, c), "requests/s", "bare net/http", atLeast(d.single),
				func(ctx context.Context, l *lab) (pair, error) {
					return l.besideBare(ctx, d, load{url: single, connections: c}, 1)
				}})
		}
	}
	return append(list, row{"GET, SQLite, c = 1", "requests/s", "flushes/s", target{}, flushed})
}

// batches are requests with 64 addresses whose domains are cached.
func batches() (list []row) {
	for _, d := range databases {
		list = append(list, row{fmt.Sprintf("batch of %d, %s, c = 32", batchSize, d.name), "addresses/s", "bare net/http, requests/s", atLeast(4),
			func(ctx context.Context, l *lab) (pair, error) {
				return l.besideBare(ctx, d, load{url: batch, body: batchBody(batchSize, ""), connections: 32}, batchSize)
			}})
	}
	return list
}

const (
	usualAddress = "jane.doe@mail.example"
	single       = "/v1/email/" + usualAddress
	batch        = "/v1/emails"
	batchSize    = 64
)

// batchBody has addresses of as many domains, whose names end with suffix.
func batchBody(size int, suffix string) string {
	var emails []string
	for n := range size {
		emails = append(emails, fmt.Sprintf(`"jane.doe%d@d%d%s.bulk.example"`, n, n, suffix))
	}
	return `{"emails":[` + strings.Join(emails, ",") + `]}`
}

// besideBare measures the service with a load of so many units a request, and then the
// bare server. The load's URL is a path.
func (l *lab) besideBare(ctx context.Context, d database, ours load, units float64) (p pair, err error) {
	s, err := d.start(l)
	if err != nil {
		return p, err
	}
	bare, err := l.bare()
	if err != nil {
		return p, err
	}
	c, err := l.costOf(ctx, s, ours)
	if err != nil {
		return p, err
	}
	peer, err := l.cost(ctx, load{url: "http://" + bare.FirstLine + "/", connections: ours.connections}, bare.PID())
	return c.besidePeer(peer, units), err
}

// costOf sends a load to a service, after a short one that fills its cache, with the keys
// of the load or that of a new account.
func (l *lab) costOf(ctx context.Context, s *service, d load) (cost, error) {
	d.url = s.url + d.url
	if d.keys == nil {
		key, err := l.freshKey(s)
		if err != nil {
			return cost{}, err
		}
		d.keys = []string{key}
	}
	if err := d.warm(); err != nil {
		return cost{}, err
	}
	return l.cost(ctx, d, s.PID())
}

// warm sends one request, whose domains are looked up within the account's limit on
// lookups, and then the load for a moment.
func (d load) warm() error {
	if err := d.sendOnce(); err != nil {
		return err
	}
	d.span = 200 * time.Millisecond
	_, err := d.send().rate()
	return err
}

// postgres starts the service on a PostgreSQL of its own.
func (l *lab) postgres() (*service, error) {
	return l.service("postgres", l.postgresDatabase)
}

func (l *lab) startPostgres() (*pgtest.Server, error) {
	server, err := pgtest.Start()
	if err != nil {
		return nil, skip("%v", err)
	}
	l.later(server.Close)
	return server, nil
}

func (l *lab) postgresDatabase() (string, error) {
	server, err := l.postgresServer()
	if err != nil {
		return "", err
	}
	return server.EmptyDatabase(context.Background())
}

// flushed compares a GET on one connection, which waits for a flush of the disk, with
// the flush alone, before and after: of all figures, a disk's vary most.
func flushed(ctx context.Context, l *lab) (p pair, err error) {
	s, err := l.sqlite()
	if err != nil {
		return p, err
	}
	before, err := l.flushes()
	if err != nil {
		return p, err
	}
	c, err := l.costOf(ctx, s, load{url: single, connections: 1})
	if err != nil {
		return p, err
	}
	after, err := l.flushes()
	return c.besidePeer(cost{rate: (before + after) / 2}, 1), err
}

// replicaRows compare several replicas of the service on one PostgreSQL, each with an
// account of its own, with one replica that gets all of the load.
func replicaRows() []row {
	return []row{{fmt.Sprintf("GET, PostgreSQL, %d replicas, c = %d each", replicas, replicaConnections), "requests/s",
		fmt.Sprintf("one replica, c = %d", replicas*replicaConnections), atLeast(1.5), manyReplicas}}
}

const (
	replicas           = 3
	replicaConnections = 32
)

func manyReplicas(ctx context.Context, l *lab) (p pair, err error) {
	all, err := l.replicas()
	if err != nil {
		return p, err
	}
	one, err := l.costOf(ctx, all[0], load{url: single, connections: replicas * replicaConnections})
	if err != nil {
		return p, err
	}
	total, err := l.costOfAll(ctx, all)
	return total.besidePeer(one, 1), err
}

// replicas starts the services on the first call.
func (l *lab) startReplicas() (list []*service, err error) {
	url, err := l.postgresDatabase()
	if err != nil {
		return nil, err
	}
	for n := range replicas {
		s, err := l.newServiceOn(url, fmt.Sprint("replica", n))
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// costOfAll sends a load to each replica at the same time.
func (l *lab) costOfAll(ctx context.Context, all []*service) (total cost, err error) {
	costs, errs := make([]cost, len(all)), make([]error, len(all))
	var loads sync.WaitGroup
	for n, s := range all {
		loads.Go(func() { costs[n], errs[n] = l.costOf(ctx, s, load{url: single, connections: replicaConnections}) })
	}
	loads.Wait()
	for n, c := range costs {
		if errs[n] != nil {
			return total, errs[n]
		}
		total.rate += c.rate
		total.used += c.used / float64(len(all))
		total.P50, total.P99 = max(total.P50, c.P50), max(total.P99, c.P99)
	}
	return total, nil
}
