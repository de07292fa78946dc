package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/wasm/build/compile"
	"github.com/addrspec/addrspec/wasm/build/pack"
)

// A lab is what all trials share: the program, a resolver, a PostgreSQL.
type lab struct {
	dir      string
	binary   string
	module   []byte // addrspec.wasm as built into the program
	cache    string // directory of compiled machine code
	dns      *resolver
	postgres func() (*pgtest.Server, error) // started by the first trial that needs it
	seconds  int
	release  []func()
}

// fullLength is the length of a full run in seconds.
const fullLength = 600

// times scales a number of rounds from a full run to this one.
func (l *lab) times(full int) int { return max(2, full*l.seconds/fullLength) }

// span scales a duration from a full run to this one.
func (l *lab) span(full time.Duration) time.Duration {
	return max(300*time.Millisecond, full*time.Duration(l.seconds)/fullLength)
}

func newLab(ctx context.Context, o options) (l *lab, err error) {
	l = &lab{binary: o.binary, seconds: min(max(o.seconds, 1), fullLength)}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.dir, err = os.MkdirTemp("", "addrspec-soak-"); err != nil {
		return nil, err
	}
	l.cache = filepath.Join(l.dir, "cache")
	l.release = append(l.release, func() { os.RemoveAll(l.dir) })
	if l.dns, err = listenDNS(); err != nil {
		return nil, err
	}
	l.release = append(l.release, l.dns.Close)
	l.postgres = sync.OnceValues(l.startPostgres)
	return l, l.build(ctx)
}

func (l *lab) startPostgres() (*pgtest.Server, error) {
	s, err := pgtest.Start()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSkipped, err)
	}
	l.release = append(l.release, s.Close)
	return s, nil
}

func (l *lab) close() {
	for n := len(l.release) - 1; n >= 0; n-- {
		l.release[n]()
	}
}

// build builds the module and, unless -binary was given, the program with the
// module embedded, as ./build.sh does.
func (l *lab) build(ctx context.Context) error {
	plain, err := compile.Reactor(ctx)
	if err != nil {
		return err
	}
	if l.module, err = pack.Pack(ctx, plain); err != nil {
		return err
	}
	if l.binary != "" {
		l.binary, err = filepath.Abs(l.binary)
		return err
	}
	l.binary = filepath.Join(l.dir, "addrspec")
	return l.buildProgram(ctx, l.binary, nil)
}

// buildProgram builds the program from the sources, with the files in replace in
// place of their originals (see `go help build`, -overlay). The module is embedded
// the same way, so that a run changes no source file.
func (l *lab) buildProgram(ctx context.Context, to string, replace map[string]string) error {
	root, err := origintest.SourceDirectory(ctx)
	if err != nil {
		return err
	}
	module := filepath.Join(l.dir, "addrspec.wasm")
	if err := os.WriteFile(module, l.module, 0o600); err != nil {
		return err
	}
	all := map[string]string{filepath.Join(root, "wasm/module/addrspec.wasm"): module}
	for file, by := range replace {
		all[file] = by
	}
	listed, err := json.Marshal(map[string]any{"Replace": all})
	if err != nil {
		return err
	}
	overlay := to + "-overlay.json"
	if err := os.WriteFile(overlay, listed, 0o600); err != nil {
		return err
	}
	return origintest.BuildProgram(ctx, to, "-overlay", overlay)
}
