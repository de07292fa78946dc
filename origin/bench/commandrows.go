package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/module"
)

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
	if err := explain(cmd.Run()); err != nil { // without a standard output, which goes nowhere
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
