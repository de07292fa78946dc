package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
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

// A family makes inputs of one kind, with a length in bytes.
type family struct {
	name string
	make func(length int) string
}

// families are inputs that may be expensive: nesting; parts to look up, to decode,
// to sort or to compose; and errors that appear only at the end.
var families = slices.Concat(known, mixtures())

var known = []family{
	repeated("letters", "", "a", "@mail.example"),
	repeated("dots", "", ".", "@mail.example"),
	repeated("atoms", "", "a.", "a@mail.example"),
	repeated("@", "", "@", ""),
	repeated("folding white space", "", "\r\n ", "a@mail.example"),
	repeated("comments open", "", "(", ""),
	repeated("comments side by side", "", "()", "a@mail.example"),
	repeated("comment of quoted pairs", "(", `\)`, ")a@mail.example"),
	repeated("comment before the end", "a@mail.example(", "x ", ")"),
	repeated("quoted pairs", `"`, `\"`, `"@mail.example`),
	repeated("quoted, then folding", `"`, " \r\n ", `"@mail.example`),
	repeated("quotes side by side", "", `"".`, "a@mail.example"),
	repeated("quoted in other scripts", `"`, "é", `"@mail.example`),
	repeated("plus signs", "", "+", "a@mail.example"),
	repeated("digits", "", "0", "@mail.example"),
	repeated("no UTF-8", "", "\xff", "@mail.example"),
	repeated("labels", "a@", "a.", "example"),
	repeated("one label", "a@", "a", ".example"),
	repeated("hyphens", "a@a", "-", "a.example"),
	repeated("A-labels", "a@", "xn--a-ecp.", "example"),
	repeated("one A-label", "a@xn--", "a", ".example"),
	repeated("one A-label of large deltas", "a@xn--", "9", ".example"),
	repeated("U-labels", "a@", "ü.", "example"),
	repeated("one U-label", "a@", "ü", ".example"),
	repeated("one U-label, all different", "a@", "", ".example", func(r *rand.Rand) string { return string(rune(0x4e00 + r.IntN(20000))) }),
	repeated("right to left", "a@", "א.", "example"),
	repeated("joiners", "a@", "ب\u200d", "ب.example"),
	repeated("ideographic full stops", "a@", "a。", "example"),
	repeated("full width", "a@", "ａ", ".example"),
	repeated("ligatures", "a@", "ﷺ", ".example"),
	repeated("combining marks in order", "a", "\u0327\u0301", "@mail.example"),
	repeated("combining marks in reverse order", "a", "\u0301\u0327", "@mail.example"),
	repeated("combining marks, last class first", "a", "\u0345", "\u0334@mail.example"),
	repeated("marks of one class", "a", "\u0301", "@mail.example"),
	repeated("marks in a domain", "a@a", "\u0301\u0327", ".example"),
	repeated("Hangul jamo", "", "\u1100\u1161\u11a8", "@mail.example"),
	repeated("decomposing letters", "", "ΐ", "@mail.example"),
	repeated("letters that grow in lower case", "", "İ", "@mail.example"),
	repeated("musical symbols", "", "\U0001d15e", "@mail.example"),
	repeated("IPv6 groups", "a@[IPv6:", "0:", "]"),
	repeated("IPv4 digits", "a@[", "0", "]"),
	repeated("literal", "a@[x:", "y", "]"),
	nested("nested comments, closed"),
	nested("comments nested with white space"),
}

// repeated returns the family of head, then middle as often as it fits, then tail.
// draw, if given, returns each piece in place of middle.
func repeated(name, head, middle, tail string, draw ...func(*rand.Rand) string) family {
	return family{name, func(length int) string {
		r := rand.New(rand.NewPCG(1, 2))
		var s strings.Builder
		for s.WriteString(head); s.Len()+len(tail)+4 <= length; {
			piece := middle
			if len(draw) > 0 {
				piece = draw[0](r)
			}
			s.WriteString(piece)
		}
		return s.String() + tail
	}}
}

func nested(name string) family {
	open, shut := "(", ")"
	if strings.Contains(name, "white") {
		open, shut = "( \r\n ", "\t)"
	}
	return family{name, func(length int) string {
		depth := (length - 20) / (len(open) + len(shut))
		return strings.Repeat(open, depth) + strings.Repeat(shut, depth) + "a@mail.example"
	}}
}

// mixtures returns families of random sequences of syntactically meaningful pieces,
// to find expensive inputs that the known families miss.
func mixtures() (list []family) {
	pieces := []string{"a", ".", "@", "(", ")", `"`, `\`, " ", "\r\n ", "[", "]", ":", "-", "+", "xn--", "ü", "\u0301", "\u0327", "\u0345",
		"\u200d", "ب", "א", "字", "ß", "İ", "\u1100", "\u1161", "\U0001f600", "\xff", "0", "IPv6:", "。", "é", "_"}
	r := rand.New(rand.NewPCG(3, 4))
	for n := range mixtureCount {
		middle := ""
		for range 1 + r.IntN(6) {
			middle += pieces[r.IntN(len(pieces))]
		}
		head, tail := "", "@mail.example"
		if n%2 == 1 {
			head, tail = "a@", ".example"
		}
		list = append(list, repeated(fmt.Sprintf("mixture %q", head+middle+tail), head, middle, tail))
	}
	return list
}

// mixtureCount is the number of mixtures tried.
const mixtureCount = 150

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
	early := p.Memory("VmHWM")
	f.trigger(s.times(2000))
	late := p.Memory("VmHWM")
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
