package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/host"
)

const moduleAddress = "jane.doe@example.org"

// moduleRows compare the module with the same code in Go: a whole check of a usual
// address, with its JSON; all facts about an address, in Go, with the time in which net/mail
// only parses it; and `addrspec check` on a list with the module alone on all cores.
func moduleRows() []row {
	list := []row{
		{"module in wazero, usual address", "ns", "native, with JSON", atMost(7), func(l *lab) pair {
			engine := l.engine(1)
			defer engine.Close(context.WithoutCancel(l.ctx))
			facts, err := engine.Check(l.ctx, nil, moduleAddress, 0)
			l.check(err)
			inModule := func() { facts, _ = engine.Check(l.ctx, facts.JSON[:0], moduleAddress, 0) }
			return beside(l.span/2, inModule, native())
		}},
		{"module in V8, usual address", "ns", "native, with JSON", atMost(3.5), func(l *lab) pair {
			node, err := exec.LookPath("node")
			if err != nil {
				l.skip("Node is not installed")
			}
			out, err := exec.CommandContext(l.ctx, node, "--input-type=module", "-e", v8Script, l.moduleFile(),
				moduleAddress,
				fmt.Sprint((l.span / 4).Milliseconds())).Output()
			l.check(origintest.Explain(err))
			p := beside(l.span/4, func() {}, native())
			l.check(json.Unmarshal(out, &p.Ours))
			return p
		}},
	}
	for _, email := range usualAddresses {
		list = append(list, row{"all facts of " + email, "ns", "net/mail.ParseAddress", atMost(1.5), func(l *lab) pair {
			checker, input := core.New(lists.Default()), []byte(email)
			return beside(l.span/2, func() { checker.Check(input) }, func() { _, _ = mail.ParseAddress(email) })
		}})
	}
	return append(list, row{fmt.Sprintf("check, %d lines offline", listLines), "lines/s", "module alone on all cores",
		atLeast(0.75), checkList})
}

// engine loads the module, with so many instances, 0 for one on each core. Its compiled code is in
// the user's cache, as always.
func (l *lab) engine(size int) *host.Engine {
	cache, err := os.UserCacheDir()
	l.check(err)
	engine, err := host.New(l.ctx, l.module(), host.Options{Size: size, CacheDir: filepath.Join(cache, "addrspec")})
	l.check(err)
	return engine
}

// native returns a function that checks an address in Go, with its JSON.
func native() func() {
	checker, line := core.New(lists.Default()), []byte(nil)
	return func() {
		facts := checker.Check([]byte(moduleAddress))
		line, _ = core.AppendJSON(line[:0], &facts, false)
	}
}

// v8Script calls addrspec_check as wasm/ABI.md describes, in Node, whose engine is V8, and prints
// nanoseconds.
const v8Script = `
import { readFileSync } from "node:fs";
const [file, email, length] = process.argv.slice(1);
const { instance } = await WebAssembly.instantiate(readFileSync(file), {});
const module = instance.exports;
module._initialize?.();
const bytes = new TextEncoder().encode(email);
const at = module.addrspec_in_ptr();
let memory = new Uint8Array(module.memory.buffer);
function check() {
  if (memory.buffer !== module.memory.buffer) memory = new Uint8Array(module.memory.buffer);
  memory.set(bytes, at);
  if (module.addrspec_check(bytes.length, 0) <= 0) throw new Error("addrspec_check failed");
}
function slice(calls) {
  const begun = performance.now();
  for (let n = 0; n < calls; n++) check();
  return ((performance.now() - begun) * 1e6) / calls;
}
function run(milliseconds) {
  const times = [];
  for (const begun = performance.now(); performance.now() - begun < milliseconds; ) times.push(slice(500));
  times.sort((a, b) => a - b);
  return times[times.length >> 1];
}
run(500); // until V8 has optimized it
console.log(run(Number(length)));
`

const listLines = 1_000_000

// mixedAddresses have typos, roles and domains of all classes.
func mixedAddresses(number int) []string {
	locals := []string{"jane.doe%d", "info%d", "j.doe+news%d", "xkqjzvw%d", "otto%d", "a..b%d", "maria_garcia%d"}
	domains := []string{"mail.example", "gmail.com", "gmial.com", "mailinator.com", "uni.example", "example.org"}
	emails := make([]string, number)
	for n := range emails {
		emails[n] = fmt.Sprintf(locals[n%len(locals)], n) + "@" + domains[n%len(domains)]
	}
	return emails
}

func checkList(l *lab) (p pair) {
	emails := mixedAddresses(listLines)
	file := filepath.Join(l.dir, "list.txt")
	l.check(os.WriteFile(file, []byte(strings.Join(emails, "\n")+"\n"), 0o600))
	begun := time.Now()
	cmd := exec.CommandContext(l.ctx, l.program, "check", "--offline", "--quiet", "--to", "ndjson", file)
	l.check(cmd.Run()) // without a standard output, which goes nowhere
	p.Ours = listLines / time.Since(begun).Seconds()
	p.Peer = l.moduleAlone(emails)
	return p
}

// moduleAlone returns how many addresses a second the module checks with an instance
// on each core. Like the command, it begins with loading the module.
func (l *lab) moduleAlone(emails []string) float64 {
	begun := time.Now()
	engine := l.engine(0)
	defer engine.Close(context.WithoutCancel(l.ctx))
	view, cores := engine.View(), runtime.GOMAXPROCS(0)
	var workers errgroup.Group
	for part := range slices.Chunk(emails, (len(emails)+cores-1)/cores) {
		workers.Go(func() (err error) {
			var facts host.Facts
			for n := 0; n < len(part) && err == nil; n++ {
				facts, err = view.Check(l.ctx, facts.JSON[:0], part[n], 0)
			}
			return err
		})
	}
	l.check(workers.Wait())
	return float64(len(emails)) / time.Since(begun).Seconds()
}

// mxCallers is as many lookups as the resolver runs at a time for one account.
const mxCallers = 64

// mxRows compare lookups of new domains with plain queries. The rate of batches contains
// all else that a batch does.
func mxRows() []row {
	return []row{
		{"MX, not cached, one after another", "ns", "dns.Exchange", atMost(1.5), func(l *lab) pair {
			p := l.lookups(1).besidePeer(l.exchanges(1), 1)
			p.Ours, p.Peer = 1e9/p.Ours, 1e9/p.Peer
			return p
		}},
		{fmt.Sprintf("MX, not cached, %d callers", mxCallers), "lookups/s", "as many callers of dns.Exchange",
			atLeast(0.8),
			func(l *lab) pair { return l.lookups(mxCallers).besidePeer(l.exchanges(mxCallers), 1) }},
		{fmt.Sprintf("MX, not cached, batches of %d", batchSize), "lookups/s",
			fmt.Sprintf("%d callers of dns.Exchange", mxCallers), atLeast(0.45), func(l *lab) pair {
				s := l.sqlite()
				d := load{Address: s.address, Key: s.key, Target: batch, Body: batchBody("-#"), From: l.unused(),
					Connections: 1}
				return l.cost(d, s.PID()).besidePeer(l.exchanges(mxCallers), batchSize)
			}},
	}
}

func (l *lab) lookups(callers int) cost {
	r, err := mx.New(mx.Config{Servers: []string{l.dns().FirstLine}})
	l.check(err)
	defer r.Close()
	return l.callAll(callers, func(domain string) error { _, err := r.Lookup(l.ctx, 1, domain); return err })
}

func (l *lab) exchanges(callers int) cost {
	server := l.dns().FirstLine
	return l.callAll(callers, func(domain string) error {
		_, err := dns.Exchange(new(dns.Msg).SetQuestion(domain+".", dns.TypeMX), server)
		return err
	})
}

// callAll has callers call f for a while, with domains that no call had before.
func (l *lab) callAll(callers int, f func(domain string) error) (c cost) {
	var calls atomic.Int64
	var all errgroup.Group
	from, begun, before := l.unused(), time.Now(), processorTime(os.Getpid())
	for range callers {
		all.Go(func() (err error) {
			for time.Since(begun) < l.span/2 && err == nil {
				err = f(fmt.Sprintf("n%d.bulk.example", from+calls.Add(1)))
			}
			return err
		})
	}
	err := all.Wait()
	took, used := time.Since(begun), processorTime(os.Getpid())-before
	l.check(err)
	c.rate = float64(calls.Load()) / took.Seconds()
	c.used = microseconds(used) / float64(calls.Load())
	return c
}
