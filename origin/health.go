package main

import (
	"context"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard"
)

// healthTime is the most time of all checks of the page Health.
const healthTime = 3 * time.Second

// health checks the parts of the running service, for operators. doctor checks
// the same of a deployment that does not run.
func (o *origin) health(ctx context.Context) []dashboard.Health {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	info := o.engine.View().Info()
	return []dashboard.Health{
		healthOf("database", func() (string, error) { return timed(func() error { return o.ledger.Ready(ctx) }) }),
		healthOf("resolver", func() (string, error) { return timed(func() error { return o.resolver.Probe(ctx) }) }),
		healthOf("lists", func() (string, error) { return checkListsAge(info.Lists, agingLists, time.Now()) }),
		healthOf("clock", func() (string, error) { return checkClockApart(ctx, o) }),
		{Part: "release", OK: true, Detail: release},
		{Part: "engine", OK: true, Detail: info.Engine},
		{Part: "model", OK: true, Detail: info.Model},
	}
}

func healthOf(part string, check func() (string, error)) dashboard.Health {
	detail, err := check()
	if err != nil {
		return dashboard.Health{Part: part, Detail: err.Error()}
	}
	return dashboard.Health{Part: part, OK: true, Detail: detail}
}

// timed says how long a check took.
func timed(check func() error) (string, error) {
	start := time.Now()
	err := check()
	return fmt.Sprintf("answers in %s", time.Since(start).Round(time.Microsecond)), err
}

// mostApart is how far the clocks of this machine and of the database may differ.
const mostApart = 5 * time.Second

func checkClockApart(ctx context.Context, o *origin) (string, error) {
	now, err := o.ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	apart := time.Since(now).Abs()
	if apart > mostApart {
		return "", fmt.Errorf("the database's clock differs by %s: start NTP on both machines", apart.Round(time.Second))
	}
	return now.Format(time.DateTime) + " UTC", nil
}
