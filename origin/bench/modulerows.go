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
	inModule, err := wazeroCall(engine, moduleAddress)
	if err != nil {
		return p, err
	}
	return beside(l.span/2, inModule, nativeCall(moduleAddress)), nil
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

// nativeCall returns a function that checks an address in Go, with its JSON.
func nativeCall(email string) func() {
	checker, line := core.New(lists.Default()), []byte(nil)
	return func() {
		native := checker.Check([]byte(email))
		line, _ = core.AppendJSON(line[:0], &native, false)
	}
}

// wazeroCall returns a function that checks an address in the module, and has checked
// it once.
func wazeroCall(engine *host.Engine, email string) (func(), error) {
	facts, err := engine.Check(context.Background(), nil, email, 0)
	return func() { facts, _ = engine.Check(context.Background(), facts.JSON[:0], email, 0) }, err
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
func costliest(_ context.Context, l *lab) (most pair, err error) {
	engine, err := openModule()
	if err != nil {
		return most, err
	}
	usual, err := wazeroCall(engine, moduleAddress)
	if err != nil {
		return most, err
	}
	for _, email := range costlyAddresses {
		costly, err := wazeroCall(engine, email)
		if err != nil {
			return most, err
		}
		if p := beside(l.span/time.Duration(len(costlyAddresses)), costly, usual); p.ratio() > most.ratio() || most.Peer == 0 {
			most = p
		}
	}
	return most, nil
}

// inV8 measures the module in Node, whose engine is V8, as the npm package uses it.
func inV8(ctx context.Context, l *lab) (p pair, err error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return p, skip("Node is not installed")
	}
	file, err := l.moduleFile()
	if err != nil {
		return p, err
	}
	out, err := exec.CommandContext(ctx, node, "--input-type=module", "-e", v8Script, file, moduleAddress, fmt.Sprint((l.span / 4).Milliseconds())).Output()
	if err != nil {
		return p, explain(err)
	}
	p = beside(l.span/4, func() {}, nativeCall(moduleAddress))
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
