package main

import (
	"time"
)

// patientFlags let a request wait for DNS for longer than the trial takes.
var patientFlags = []string{"--dns-timeout", "30s", "--batch-timeout", "30s"}

// killedWaiting kills the program while every request waits for a silent resolver.
// None is charged, and batches with an Idempotency-Key are served at once when they
// are sent again.
func killedWaiting(s *session) error {
	s.dns.RespondAll(asNamed)
	k, err := s.newKills(patientFlags...)
	if err != nil {
		return err
	}
	k.plain.clients, k.plain.next = 32, waiting
	k.once.make = func(int) request { return newBatch(silent, 3) }
	stop := k.start()
	defer stop()
	kills, asked := k.times(40), k.dns.Names()
	for range kills {
		pause(50*time.Millisecond, 200*time.Millisecond)
		if err := k.restart(patientFlags...); err != nil {
			return err
		}
	}
	k.process.Kill()
	stop()
	k.figure("%d kills; plain: %s", kills+1, &k.plain.tally)
	k.figure("with Idempotency-Key: %s", &k.once.tally)
	k.expect(k.dns.Names()-asked > kills, "only %d domains were looked up: the requests did not wait for the resolver", k.dns.Names()-asked)
	return k.expectNothingCharged()
}

// expectNothingCharged checks the ledger after the last kill, and then sends the
// batches with an Idempotency-Key again.
func (k *kills) expectNothingCharged() (err error) {
	for _, a := range []account{k.plain.account, k.once.account} {
		if err := k.expectLedger(a, 0, 0); err != nil {
			return err
		}
	}
	k.dns.Heal()
	if k.process, err = k.startAt(k.process.address, patientFlags...); err != nil {
		return err
	}
	return k.expectSettled(k.once)
}
