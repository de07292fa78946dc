package main

import (
	"math/rand/v2"
	"time"
)

// Replicas on one database sell a balance exactly, and share one token bucket.
func twoReplicas(s *session) error   { return s.replicas(2) }
func threeReplicas(s *session) error { return s.replicas(3) }

func (s *session) replicas(count int) error {
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

func (s *session) startReplicas(count int, flags ...string) (*replicas, error) {
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

// byClient returns the same replica's address for each request of a client. A
// restarted replica keeps its address.
func (r *replicas) byClient(client int) string {
	return r.processes[client%len(r.processes)].address
}

// addresses returns the addresses of the replicas.
func (r *replicas) addresses() (list []string) {
	for n := range r.processes {
		list = append(list, r.byClient(n))
	}
	return list
}

// anywhere returns a random one of the addresses for each connection.
func anywhere(addresses []string) func(int) string {
	return func(int) string { return addresses[rand.IntN(len(addresses))] }
}

// restartOne kills a random replica and restarts it at once.
func (s *session) restartOne(r *replicas) error {
	n := rand.IntN(len(r.processes))
	r.processes[n].Kill()
	p, err := s.startAt(r.processes[n].address)
	if err == nil {
		r.processes[n] = p
	}
	return err
}
