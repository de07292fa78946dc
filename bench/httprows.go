package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// singles are GETs of an address whose MX is cached, each charged durably before it is
// answered.
func singles() (list []row) {
	for _, d := range databases {
		bound := atLeast(d.single)
		for _, c := range []int{32, 128, 512} {
			list = append(list, row{fmt.Sprintf("GET, %s, c = %d", d.name, c), "requests/s", "bare net/http", bound,
				func(ctx context.Context, l *lab) (pair, error) {
					return l.besideBare(ctx, d, c, "/v1/email/"+usualAddress, "")
				}})
		}
	}
	return append(list, row{"GET, SQLite, c = 1", "requests/s", "flushes/s", target{}, flushed})
}

// batches are requests with 64 addresses whose domains are cached.
func batches() (list []row) {
	for _, d := range databases {
		list = append(list, row{"batch of 64, " + d.name + ", c = 32", "addresses/s", "bare net/http, requests/s", atLeast(4),
			func(ctx context.Context, l *lab) (pair, error) {
				p, err := l.besideBare(ctx, d, 32, "/v1/emails", batchBody())
				p.Ours *= batchSize
				return p, err
			}})
	}
	return list
}

const (
	usualAddress = "jane.doe@mail.example"
	batchSize    = 64
)

func batchBody() string {
	var emails []string
	for n := range batchSize {
		emails = append(emails, fmt.Sprintf(`"jane.doe%d@d%d.bulk.example"`, n, n))
	}
	return `{"emails":[` + strings.Join(emails, ",") + `]}`
}

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

// postgres starts the service on a PostgreSQL of its own.
func (l *lab) postgres() (*service, error) {
	return l.service("postgres", func() (string, error) {
		server, err := pgtest.Start()
		if err != nil {
			return "", skip("%v", err)
		}
		l.later(server.Close)
		return server.EmptyDatabase(context.Background())
	})
}

// besideBare measures the service and then the bare server.
func (l *lab) besideBare(ctx context.Context, d database, connections int, path, body string) (p pair, err error) {
	s, err := d.start(l)
	if err != nil {
		return p, err
	}
	bare, err := l.bare()
	if err != nil {
		return p, err
	}
	ours := load{url: s.url + path, key: s.key, body: body, connections: connections}
	if err := s.warm(ours); err != nil {
		return p, err
	}
	if p.Ours, err = l.rate(ctx, ours); err != nil {
		return p, err
	}
	p.Peer, err = l.rate(ctx, load{url: "http://" + bare + "/", connections: connections})
	return p, err
}

// warm sends a load for a moment, which fills the cache of look-ups.
func (s *service) warm(d load) error {
	d.span = 200 * time.Millisecond
	_, err := d.send().rate()
	return err
}

// flushed compares a GET on one connection, which waits for a flush of the disk, with
// the flush alone.
func flushed(ctx context.Context, l *lab) (p pair, err error) {
	s, err := l.sqlite()
	if err != nil {
		return p, err
	}
	if p.Peer, err = l.flushes(); err != nil {
		return p, err
	}
	p.Ours, err = l.rate(ctx, load{url: s.url + "/v1/email/" + usualAddress, key: s.key, connections: 1})
	return p, err
}
