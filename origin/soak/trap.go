package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// trapped runs the program with a defective module. Each request that triggers a
// defect gets 500 and costs nothing, the next one succeeds, and replacing instances
// leaks no memory.
func trapped(s *session) error {
	module, err := s.fragileModule()
	if err != nil {
		return err
	}
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	p, err := s.start("--module", module)
	if err != nil {
		return err
	}
	l := &load{account: a, clients: 4, at: always(p.address), next: mixed}
	stop := l.start(s.ctx)
	defer stop()
	f := &defects{session: s, client: &client{address: p.address, key: a.key, keepAlive: true}}
	defer f.client.close()
	f.trigger(s.times(200))
	early := p.memory("VmHWM")
	f.trigger(s.times(2000))
	late := p.memory("VmHWM")
	stop()
	s.figure("%d requests triggered a defect and got 500; the next one of each got 200 after p50 %s, p99 %s",
		f.count, round(percentile(f.next, 50)), round(percentile(f.next, 99)))
	s.figure("peak memory after a tenth of them %d MiB, after all %d MiB", early>>20, late>>20)
	s.figure("others meanwhile: %s", &l.tally)
	s.expect(late < early+mostGrowth, "the memory grew from %d to %d MiB", early>>20, late>>20)
	s.expect(len(l.cuts)+l.refused == 0, "%d of the others had no response", len(l.cuts)+l.refused)
	s.expectContract(&l.tally)
	least, most := l.charged()
	return s.expectLedger(a, least+f.points, most+f.points)
}

// mostGrowth is a growth of Go's heap that is not a leak.
const mostGrowth = 64 << 20

// fragileModule writes a module that fails on some addresses to a file.
func (s *session) fragileModule() (path string, err error) {
	module, err := moduletest.Break(s.module)
	if err != nil {
		return "", err
	}
	path = filepath.Join(s.dir, "fragile.wasm")
	return path, os.WriteFile(path, module, 0o600)
}

// defects is a client that causes traps.
type defects struct {
	*session
	client *client
	count  int
	points int64
	next   []time.Duration
}

// trigger sends addresses on which the module fails, alone and in batches, each
// followed by one on which it does not.
func (f *defects) trigger(times int) {
	good := single("jane@mail.example")
	for n := range times {
		defect := strings.Split("! ? #", " ")[n%3]
		bad := single(defect + "jane@mail.example")
		if n%4 == 0 {
			bad = batchOf(20, n)
			bad.emails[16*(n%8/4)] = defect + bad.emails[0] // the first of a share
		}
		o := f.client.send(bad)
		_, err := o.points(bad)
		f.expect(o.status == 500 && err == nil, "the response to a defect is %d: %s (%v)", o.status, o.body, err)
		f.count++
		o = f.client.send(good)
		f.expect(o.status == 200, "after a defect the next response is %d: %s", o.status, o.body)
		f.points++
		f.next = append(f.next, o.took)
	}
}
