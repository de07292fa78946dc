package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// cutOften repeatedly closes all connections of the database.
func (o *outage) cutOften(pg *pgtest.Server) func(*load) error {
	return func(*load) error {
		for range o.times(60) {
			if err := pg.CutConnections(o.ctx); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
		return nil
	}
}

// cutAtCommit cuts connections just before or just after a commit, so that its
// outcome is unknown to the program.
func (o *outage) cutAtCommit(proxy *pgtest.Proxy, moment pgtest.Moment) func(*load) error {
	return func(*load) error {
		cuts := int64(o.times(100))
		proxy.Cut(moment, cuts)
		deadline := time.Now().Add(o.span(20*time.Second) + 2*time.Second)
		for proxy.Left() > 0 && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		missing := proxy.Left()
		proxy.Cut(moment, 0)
		o.figure("%d connections cut at a commit:", cuts-missing)
		o.expect(missing < cuts, "no connection was cut at a commit")
		return nil
	}
}

// freeze suspends the processes of the database for a while.
func (o *outage) freeze(pg *pgtest.Server) func(*load) error {
	return func(*load) error {
		thaw, err := pg.Freeze(o.ctx)
		if err != nil {
			return err
		}
		time.Sleep(o.span(4 * time.Second))
		thaw()
		return nil
	}
}

// stopAndStart ends the database as a crash would and starts it again. Meanwhile
// clients request new domains. After the first second none is looked up.
func (o *outage) stopAndStart(pg *pgtest.Server) func(*load) error {
	return func(*load) error {
		var asks atomic.Int64
		fresh := &load{account: o.account, clients: 4, at: o.at}
		fresh.next = func(int, int) request { asks.Add(1); return single(newEmail("")) }
		pg.Stop()
		stop := fresh.start(o.ctx)
		defer stop()
		time.Sleep(time.Second + busy)
		names, before := o.dns.Names(), asks.Load()
		o.expectReady(http.StatusServiceUnavailable)
		time.Sleep(max(time.Second, o.span(3*time.Second)))
		o.figure("stopped: %d requests about new domains after the first second, %d domains looked up", asks.Load()-before, o.dns.Names()-names)
		o.expect(asks.Load() > before, "no client requested a new domain while the database was stopped")
		o.expect(o.dns.Names() == names, "%d domains were looked up while nothing could be charged", o.dns.Names()-names)
		stop()
		o.expect(fresh.responses(200) == 0, "%d responses with 200 without a database", fresh.responses(200))
		o.expectContract(&fresh.tally)
		return o.resume(pg)
	}
}

// resume starts the database and waits until both replicas are ready.
func (o *outage) resume(pg *pgtest.Server) error {
	if err := pg.Resume(); err != nil {
		return err
	}
	begun := time.Now()
	for client := range 2 {
		for o.readyz(client) != http.StatusOK {
			if time.Since(begun) > 10*time.Second {
				return fmt.Errorf("a replica is not ready 10 s after the database")
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	o.figure("ready %s after the database", round(time.Since(begun)))
	return nil
}

func (o *outage) expectReady(want int) {
	for client := range 2 {
		status := o.readyz(client)
		o.expect(status == want, "/readyz of replica %d is %d, want %d", client, status, want)
	}
}

// readyz returns the status of a replica's /readyz, or 0 without a response.
func (o *outage) readyz(client int) int {
	web := http.Client{Timeout: 3 * time.Second}
	response, err := web.Get("http://" + o.at(client) + "/readyz")
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}
