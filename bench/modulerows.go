package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/module"
)

// moduleRows compare the module with the same code in Go: a whole check of a usual
// address, with its JSON.
func moduleRows() []row {
	return []row{
		{"module in wazero, usual address", "ns", "native, with JSON", atMost(7), inWazero},
		{"module in V8, usual address", "ns", "native, with JSON", atMost(3.5), inV8},
		{"module in wazero, costliest address", "ns", "usual address", atMost(3), costliest},
	}
}

const moduleAddress = "jane.doe@example.org"

func inWazero(_ context.Context, l *lab) (p pair, err error) {
	engine, err := openModule()
	if err != nil {
		return p, err
	}
	p.Ours, err = wazeroTime(engine, moduleAddress, l.span/4)
	p.Peer = nativeTime(moduleAddress, l.span/4)
	return p, err
}

// openModule compiles the module once.
var openModule = sync.OnceValues(func() (*host.Engine, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	wasm, err := module.Bytes()
	if err != nil {
		return nil, err
	}
	return host.New(context.Background(), wasm, host.Options{Size: 1, CacheDir: filepath.Join(cache, "addrspec")})
})

func nativeTime(email string, span time.Duration) float64 {
	checker, line := core.New(lists.Default()), []byte(nil)
	return nanoseconds(span, func() {
		native := checker.Check([]byte(email))
		line, _ = core.AppendJSON(line[:0], &native, false)
	})
}

func wazeroTime(engine *host.Engine, email string, span time.Duration) (float64, error) {
	facts, err := engine.Check(context.Background(), nil, email, 0)
	if err != nil {
		return 0, err
	}
	return nanoseconds(span, func() { facts, _ = engine.Check(context.Background(), facts.JSON[:0], email, 0) }), nil
}

// costlyAddresses are the usual lengths that cost most, by kind. A longer address may
// cost more, in proportion to its length.
var costlyAddresses = []string{
	"jane.doe@gmail.comcastx",
	"jane.doe@example.qwrtzpl",
	"jane.doe@yahooo.co.ukk",
	"xkqjzvwbtrpl@gmaill.conm",
	"jane.doe@xn--mnchen-3ya.example",
	"jörg.müller@bücher.example",
	`"jane \"x\" doe"@example.org`,
	"(comment) jane.doe (comment) @ (comment) example.org",
	"a.b.c.d.e.f.g.h.i.j.k.l.m@n.o.p.q.r.s.t.example",
}

// costliest compares the costliest of costlyAddresses with the usual address.
func costliest(_ context.Context, l *lab) (p pair, err error) {
	engine, err := openModule()
	if err != nil {
		return p, err
	}
	span := l.span / time.Duration(2*len(costlyAddresses))
	if p.Peer, err = wazeroTime(engine, moduleAddress, span); err != nil {
		return p, err
	}
	for _, email := range costlyAddresses {
		time, err := wazeroTime(engine, email, span)
		if err != nil {
			return p, err
		}
		p.Ours = max(p.Ours, time)
	}
	return p, nil
}

// inV8 measures the module in Node, whose engine is V8, as the npm package uses it.
func inV8(ctx context.Context, l *lab) (p pair, err error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return p, skip("Node is not installed")
	}
	wasm, err := module.Bytes()
	if err != nil {
		return p, err
	}
	file := filepath.Join(l.dir, "addrspec.wasm")
	if err := os.WriteFile(file, wasm, 0o600); err != nil {
		return p, err
	}
	out, err := exec.CommandContext(ctx, node, "--input-type=module", "-e", v8Script, file, moduleAddress, fmt.Sprint((l.span / 4).Milliseconds())).Output()
	if err != nil {
		return p, explain(err)
	}
	p.Peer = nativeTime(moduleAddress, l.span/4)
	return p, json.Unmarshal(out, &p.Ours)
}

// v8Script calls addrspec_check as wasm/ABI.md describes, and prints nanoseconds.
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
function run(milliseconds) {
  const begun = performance.now();
  let calls = 0;
  while (performance.now() - begun < milliseconds) {
    for (let n = 0; n < 500; n++) check();
    calls += 500;
  }
  return ((performance.now() - begun) * 1e6) / calls;
}
run(500); // until V8 has optimized it
console.log(run(Number(length)));
`
