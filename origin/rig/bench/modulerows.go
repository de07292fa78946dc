package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/origin/rig/origintest"
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
		return p, origintest.Explain(err)
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

// usualAddresses are usual ones of every kind of provider.
var usualAddresses = []string{
	"jane.doe@example.org", "j.smith@gmail.com", "hans.mueller@stadtwerke-muenchen.de",
	"info@mycompany.de", "user1234@yahoo.co.uk",
}

// parseRows compare all facts about an address, in Go, with the time in which net/mail
// only parses it.
func parseRows() (list []row) {
	for _, email := range usualAddresses {
		list = append(list, row{"all facts of " + email, "ns", "net/mail.ParseAddress", atMost(1.5),
			func(_ context.Context, l *lab) (pair, error) {
				checker, input := core.New(lists.Default()), []byte(email)
				return beside(l.span/2, func() { checker.Check(input) }, func() { _, _ = mail.ParseAddress(email) }), nil
			}})
	}
	return list
}

// commandRows compare `addrspec check` on a list with the module alone on all cores.
func commandRows() []row {
	return []row{{fmt.Sprintf("check, %d lines offline", listLines), "lines/s", "module alone on all cores", atLeast(0.75), checkList}}
}

const listLines = 1_000_000

func checkList(ctx context.Context, l *lab) (p pair, err error) {
	program, err := l.program()
	if err != nil {
		return p, err
	}
	emails := listOf(listLines)
	file := filepath.Join(l.dir, "list.txt")
	if err := writeList(file, emails); err != nil {
		return p, err
	}
	begun := time.Now()
	cmd := exec.CommandContext(ctx, program, "check", "--offline", "--quiet", "--to", "ndjson", file)
	if err := origintest.Explain(cmd.Run()); err != nil { // without a standard output, which goes nowhere
		return p, err
	}
	p.Ours = listLines / time.Since(begun).Seconds()
	p.Peer, err = moduleAlone(ctx, emails)
	return p, err
}

// listOf returns addresses with typos, roles and domains of all classes.
func listOf(length int) []string {
	locals := []string{"jane.doe%d", "info%d", "j.doe+news%d", "xkqjzvw%d", "otto%d", "a..b%d", "maria_garcia%d"}
	domains := []string{"mail.example", "gmail.com", "gmial.com", "mailinator.com", "uni.example", "example.org"}
	list := make([]string, length)
	for n := range list {
		list[n] = fmt.Sprintf(locals[n%len(locals)], n) + "@" + domains[n%len(domains)]
	}
	return list
}

func writeList(path string, emails []string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	buffered := bufio.NewWriter(file)
	for _, email := range emails {
		fmt.Fprintln(buffered, email)
	}
	return buffered.Flush()
}

// moduleAlone returns how many addresses a second the module checks with an instance
// on each core. Like the command, it begins with loading the module.
func moduleAlone(ctx context.Context, emails []string) (float64, error) {
	begun := time.Now()
	cache, err := os.UserCacheDir()
	if err != nil {
		return 0, err
	}
	wasm, err := module.Bytes()
	if err != nil {
		return 0, err
	}
	engine, err := host.New(ctx, wasm, host.Options{CacheDir: filepath.Join(cache, "addrspec")})
	if err != nil {
		return 0, err
	}
	defer engine.Close(ctx)
	view, cores := engine.View(), runtime.GOMAXPROCS(0)
	failures := make([]error, cores)
	var workers sync.WaitGroup
	for core := range cores {
		part := emails[core*len(emails)/cores : (core+1)*len(emails)/cores]
		workers.Go(func() { failures[core] = checkPart(ctx, view, part) })
	}
	workers.Wait()
	for _, err := range failures {
		if err != nil {
			return 0, err
		}
	}
	return float64(len(emails)) / time.Since(begun).Seconds(), nil
}

func checkPart(ctx context.Context, view *host.View, emails []string) error {
	var facts host.Facts
	var err error
	for _, email := range emails {
		if facts, err = view.Check(ctx, facts.JSON[:0], email, 0); err != nil {
			return err
		}
	}
	return nil
}

// scaledModule returns an engine whose lists have so many tenths of the published
// domains.
func (l *lab) scaledModule(ctx context.Context, tenths int) (*host.Engine, error) {
	blob, err := l.scaledLists(ctx, tenths)
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	wasm, err := module.Bytes()
	if err != nil {
		return nil, err
	}
	return host.New(ctx, wasm, host.Options{Size: 1, CacheDir: filepath.Join(cache, "addrspec"), Lists: blob})
}

// scaledLists packs the project's tables with a part of the published domains. More
// than 15 tenths do not fit the format, which counts entries in 16 bits.
func (l *lab) scaledLists(ctx context.Context, tenths int) ([]byte, error) {
	root, err := origintest.SourceDirectory(ctx)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(l.dir, fmt.Sprint("lists-", tenths))
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "lists"))); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := scaleDomains(filepath.Join(dir, "sources", "domains.txt"), tenths); err != nil {
		return nil, err
	}
	pack := exec.CommandContext(ctx, "go", "run", "./lists/cmd", "pack", "--dir", dir)
	pack.Dir = root
	if _, err := pack.Output(); err != nil {
		return nil, origintest.Explain(err)
	}
	return os.ReadFile(filepath.Join(dir, "lists.blob"))
}

// scaleDomains keeps so many tenths of a table's domains, evenly. Of more than ten, it
// writes a new domain after some, with their sources, so that the new ones are spread
// like the old.
func scaleDomains(path string, tenths int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var to strings.Builder
	n := 0
	for line := range strings.Lines(string(text)) {
		first, rest, found := strings.Cut(line, ".")
		if strings.HasPrefix(line, "#") || !found {
			to.WriteString(line)
			continue
		}
		if n%10 < tenths {
			to.WriteString(line)
		}
		if n%10 < tenths-10 {
			fmt.Fprintf(&to, "%s-%d.%s", first, n, rest)
		}
		n++
	}
	return os.WriteFile(path, []byte(to.String()), 0o600)
}
