package main

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/addrspec/addrspec/wasm/host"
)

// worstInput looks for the input that takes the module longest, byte for
// byte, and shows that the time is bounded by the length; then it sends the
// worst to the service, beside ordinary clients.
func worstInput(s *scene) error {
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

// Lengths of input: an address, a great deal, and all that the module takes.
const (
	addressInput = 250
	shortInput   = 1 << 16
	longInput    = 1<<20 - 64
)

// A cost is what a family takes at each length, in nanoseconds a byte.
type cost struct {
	family
	address, short, long float64
}

// mostPerByte bounds a call on 1 MiB, which is the largest there is, to a
// fifth of a second.
const mostPerByte = 200

// expectLinear: sixteen times the length takes sixteen times as long, or little
// more; were it quadratic, the cost of a byte would be sixteenfold.
func (s *scene) expectLinear(c cost) {
	s.expect(c.long < 3*c.short+5, "%s: %.1f ns/byte of 64 KiB, %.1f of 1 MiB: more than linear", c.name, c.short, c.long)
	s.expect(c.long < mostPerByte, "%s: %.1f ns/byte", c.name, c.long)
}

// A meter measures calls of the module.
type meter struct {
	ctx    context.Context
	engine *host.Engine
	err    error
}

// search measures all families, and at full length the known ones
// and the most expensive mixtures; the most expensive of all come first.
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

// fullMixtures is how many mixtures are measured at full length.
const fullMixtures = 20

// perByte is the least of three times: what disturbs only adds.
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

// sendWorst posts the worst input, as large as a body may be, from as many
// clients as there are processors, while others ask about usual addresses.
func (s *scene) sendWorst(f family) error {
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
	s.expect(attackers.answers(200) > 0, "no batch with the worst input was answered: %s", &attackers.tally)
	s.expect(others.answers(200) > 0, "no other was answered")
	sum := attackers.points + others.points
	return s.expectBooks(a, sum, sum+attackers.doubtful+others.doubtful)
}

// inBody leaves room for JSON's escapes, which take six bytes for one at worst.
const inBody = 170_000
