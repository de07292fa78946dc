package main

import (
	"math/rand/v2"
	"time"
)

// twoReplicas and threeReplicas share one database: they sell a balance to the
// point, and are one token bucket.
func twoReplicas(s *scene) error   { return s.replicas(2) }
func threeReplicas(s *scene) error { return s.replicas(3) }

func (s *scene) replicas(count int) error {
	r, err := s.startReplicas(count)
	if err != nil {
		return err
	}
	if err := s.sellOut(r.byClient); err != nil {
		return err
	}
	return s.flood(r.byClient, 40, s.span(8*time.Second))
}

// replicas are processes on one database.
type replicas struct{ processes []*process }

func (s *scene) startReplicas(count int, flags ...string) (*replicas, error) {
	r := &replicas{}
	for range count {
		p, err := s.start(flags...)
		if err != nil {
			return nil, err
		}
		r.processes = append(r.processes, p)
	}
	return r, nil
}

// byClient keeps each client at one replica. A replica keeps its address when
// it is restarted.
func (r *replicas) byClient(client int) string {
	return r.processes[client%len(r.processes)].address
}

// addresses lists where the replicas listen.
func (r *replicas) addresses() (list []string) {
	for n := range r.processes {
		list = append(list, r.byClient(n))
	}
	return list
}

// anywhere sends each connection to a random one of the addresses.
func anywhere(addresses []string) func(int) string {
	return func(int) string { return addresses[rand.IntN(len(addresses))] }
}

// restartOne kills a random replica and starts it again at once.
func (s *scene) restartOne(r *replicas) error {
	n := rand.IntN(len(r.processes))
	r.processes[n].Kill()
	p, err := s.startAt(r.processes[n].address)
	if err == nil {
		r.processes[n] = p
	}
	return err
}
