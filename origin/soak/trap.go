package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// trapped runs the program on a module with defects: each request that meets
// one gets 500 and costs nothing, the next succeeds, and replacing instances
// takes no memory that stays.
func trapped(s *scene) error {
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
	f := &defects{scene: s, client: &client{address: p.address, key: a.key, keepAlive: true}}
	defer f.client.close()
	f.meet(s.times(200))
	early := p.memory("VmHWM")
	f.meet(s.times(2000))
	late := p.memory("VmHWM")
	stop()
	s.figure("%d requests met a defect, each with 500; each next one got 200 after p50 %s, p99 %s",
		f.met, round(percentile(f.next, 50)), round(percentile(f.next, 99)))
	s.figure("most memory after a tenth of them %d MiB, after all %d MiB", early>>20, late>>20)
	s.figure("others meanwhile: %s", &l.tally)
	s.expect(late < early+mostGrowth, "the memory grew from %d to %d MiB", early>>20, late>>20)
	s.expect(len(l.cuts)+l.refused == 0, "%d of the others had no answer", len(l.cuts)+l.refused)
	s.expectContract(&l.tally)
	least, most := l.charged()
	return s.expectBooks(a, least+f.points, most+f.points)
}

// mostGrowth is what Go's heap may grow by chance.
const mostGrowth = 64 << 20

// fragileModule writes a module that fails on some addresses.
func (s *scene) fragileModule() (path string, err error) {
	module, err := moduletest.Break(s.module)
	if err != nil {
		return "", err
	}
	path = filepath.Join(s.dir, "fragile.wasm")
	return path, os.WriteFile(path, module, 0o600)
}

// defects is a client that causes traps.
type defects struct {
	*scene
	client *client
	met    int
	points int64
	next   []time.Duration
}

// meet sends addresses that the module fails on, alone and within batches,
// each followed by one that it does not fail on.
func (f *defects) meet(times int) {
	good := single("jane@mail.example")
	for n := range times {
		bad := single(strings.Split("! ? #", " ")[n%3] + "jane@mail.example")
		if n%4 == 0 {
			bad = batchOf(5, n)
			bad.emails[2] = "!" + bad.emails[2]
		}
		o := f.client.send(bad)
		_, err := o.points(bad)
		f.expect(o.status == 500 && err == nil, "a defect is answered with %d: %s (%v)", o.status, o.body, err)
		f.met++
		o = f.client.send(good)
		f.expect(o.status == 200, "after a defect the next answer is %d: %s", o.status, o.body)
		f.points++
		f.next = append(f.next, o.took)
	}
}
