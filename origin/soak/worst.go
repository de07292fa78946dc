package main

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/addrspec/addrspec/wasm/host"
)

// worstInput searches for the input on which the module takes the most time a byte,
// and shows that the time is linear in the length. Then it sends the worst input
// to the service, beside ordinary clients.
func worstInput(s *session) error {
	ctx := context.WithoutCancel(s.ctx) // a call is not interrupted
	engine, err := host.New(ctx, s.module, host.Options{Size: 1, CacheDir: s.cache})
	if err != nil {
		return err
	}
	defer engine.Close(ctx)
	m := &meter{ctx: ctx, engine: engine}
	usual := m.perByte("jane.doe+news@mail.example")
	found := m.search()
	if m.err != nil {
		return m.err
	}
	s.figure("%-50s %7.1f ns/byte of 26 bytes", "a usual address", usual)
	byAddress := slices.MaxFunc(found, func(a, b cost) int { return cmp.Compare(a.address, b.address) })
	s.figure("%-50s %7.1f ns/byte of 250 bytes", byAddress.name, byAddress.address)
	for _, c := range found[:5] {
		s.figure("%-50s %7.1f ns/byte of 64 KiB, %.1f of 1 MiB", c.name, c.short, c.long)
	}
	for _, c := range found {
		s.expectLinear(c)
	}
	s.figure("%d kinds of input tried, %d of them at 1 MiB", len(families), len(found))
	return s.sendWorst(found[0].family)
}

// Lengths of input: an address, 64 KiB, and nearly the most that the module takes.
const (
	addressInput = 250
	shortInput   = 1 << 16
	longInput    = 1<<20 - 64
)

// A cost is the time of a family at each length, in nanoseconds a byte.
type cost struct {
	family
	address, short, long float64
}

// mostPerByte limits a call on 1 MiB, the longest input, to a fifth of a second.
const mostPerByte = 200

// expectLinear expects the cost of a byte to be about the same at 16 times the
// length. With quadratic time it would be 16 times as high.
func (s *session) expectLinear(c cost) {
	s.expect(c.long < 3*c.short+5, "%s: %.1f ns/byte of 64 KiB, %.1f of 1 MiB: more than linear", c.name, c.short, c.long)
	s.expect(c.long < mostPerByte, "%s: %.1f ns/byte", c.name, c.long)
}

// A meter measures calls of the module.
type meter struct {
	ctx    context.Context
	engine *host.Engine
	err    error
}

// search measures all families and, at full length, the known ones and the most
// expensive mixtures. It returns the most expensive ones first.
func (m *meter) search() (found []cost) {
	for n, f := range families {
		c := cost{family: f, address: m.perByte(f.make(addressInput)), short: m.perByte(f.make(shortInput))}
		if n < len(known) {
			c.long = m.perByte(f.make(longInput))
		}
		found = append(found, c)
	}
	mixtures := found[len(known):]
	slices.SortFunc(mixtures, func(a, b cost) int { return cmp.Compare(b.short, a.short) })
	for n := range mixtures[:fullMixtures] {
		mixtures[n].long = m.perByte(mixtures[n].make(longInput))
	}
	found = found[:len(known)+fullMixtures]
	slices.SortFunc(found, func(a, b cost) int { return cmp.Compare(b.long, a.long) })
	return found
}

// fullMixtures is the number of mixtures measured at full length.
const fullMixtures = 20

// perByte returns the least of three times, since other load only adds to a time.
func (m *meter) perByte(input string) float64 {
	calls := max(1, 10_000/len(input))
	least := time.Hour
	for range 3 {
		begun := time.Now()
		for range calls {
			if _, err := m.engine.Check(m.ctx, nil, input, 0); err != nil {
				m.err = err
			}
		}
		least = min(least, time.Since(begun))
	}
	return float64(least.Nanoseconds()) / float64(calls*len(input))
}

// sendWorst sends the worst input in bodies of nearly the largest size, from one
// client per processor, while other clients send the usual load.
func (s *session) sendWorst(f family) error {
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	p, err := s.start()
	if err != nil {
		return err
	}
	worst := request{batch: true, emails: []string{f.make(inBody)}}
	attackers := &load{account: a, clients: runtime.GOMAXPROCS(0), at: always(p.address), next: func(int, int) request { return worst }}
	others := &load{account: a, clients: 4, at: always(p.address), next: mixed}
	stop, stopOthers := attackers.start(s.ctx), others.start(s.ctx)
	time.Sleep(s.span(10 * time.Second))
	stop()
	stopOthers()
	s.figure("sent to the service as batches of %d bytes: %s", len(worst.text(a.key, true)), &attackers.tally)
	s.figure("others meanwhile: %s", &others.tally)
	s.expectContract(&attackers.tally)
	s.expectContract(&others.tally)
	s.expect(attackers.responses(200) > 0, "no batch with the worst input was served: %s", &attackers.tally)
	s.expect(others.responses(200) > 0, "none of the others was served")
	sum := attackers.points + others.points
	return s.expectLedger(a, sum, sum+attackers.doubtful+others.doubtful)
}

// inBody is the length of input that fits into a body when JSON escapes each byte
// with six.
const inBody = 170_000
