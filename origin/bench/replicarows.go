package main

import (
	"context"
	"fmt"
	"sync"
)

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
