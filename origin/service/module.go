package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/addrspec/addrspec/lists/extra"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/store"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/module"
)

// ModuleFlags select the module and its lists.
type ModuleFlags struct {
	Module     string   `placeholder:"FILE" help:"An addrspec.wasm to use in place of the built-in one."`
	Lists      string   `placeholder:"FILE" help:"A blob of newer lists. serve takes it over when the file changes and on SIGHUP."`
	ListsKey   ListsKey `placeholder:"KEY|FILE" help:"The public key that signs the lists: the line of minisign that begins with RW, or a .pub file. With it, only lists that it signed are used."`
	ListsExtra string   `placeholder:"FILE" help:"Your own corrections of the lists: rows below [known], [disposable], [public] or [relay]. serve takes them over when the file changes and on SIGHUP."`
	CacheDir   string   `placeholder:"DIR" help:"A directory for compiled machine code, so that later starts are faster (default: addrspec in the user's cache directory)."`

	TypoSuggestion string `enum:"domain,address" default:"domain" help:"What typo_suggestion contains: domain or address."`
}

// Engine starts the module with the lists of --lists and the rows of --lists-extra.
func (f *ModuleFlags) Engine(ctx context.Context) (*host.Engine, error) {
	blob, err := f.Blob()
	if err != nil {
		return nil, fmt.Errorf("--lists: %w", err)
	}
	engine, err := f.engineWith(ctx, blob)
	if err != nil {
		return nil, err
	}
	if err := f.AddExtra(ctx, engine, blob); err != nil {
		engine.Close(ctx)
		return nil, err
	}
	return engine, nil
}

// AddExtra adds the rows of --lists-extra to an engine's lists: blob, or its own if that
// is nil.
func (f *ModuleFlags) AddExtra(ctx context.Context, engine *host.Engine, blob []byte) error {
	if f.ListsExtra == "" {
		return nil
	}
	rows, err := extra.Read(f.ListsExtra)
	if err == nil {
		blob, err = extra.Base(blob, engine.View().Info().Lists)
	}
	if err == nil {
		blob, err = rows.AddTo(blob)
	}
	if err == nil {
		err = engine.SetLists(ctx, blob)
	}
	if err != nil {
		return fmt.Errorf("--lists-extra: %w", err)
	}
	return nil
}

// engineWith starts the module with the lists of blob; nil means its own.
func (f *ModuleFlags) engineWith(ctx context.Context, blob []byte) (*host.Engine, error) {
	wasm, err := f.Wasm()
	if err != nil {
		return nil, err
	}
	ProcessCollector.begin()
	engine, err := host.New(ctx, wasm, host.Options{CacheDir: f.CachePath(), Lists: blob})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Source(), err)
	}
	return engine, nil
}

// compilesFor is how long the module may take from the cache. Compiling it takes
// half a second to seconds.
const compilesFor = 500 * time.Millisecond

// hasCompiled reports whether the cache was used before, perhaps for another module.
func (f *ModuleFlags) hasCompiled() bool {
	entries, _ := os.ReadDir(f.CachePath()) // none if there is no such directory
	return len(entries) > 0
}

// engineAnnounced starts the module with its own lists. If it has to be compiled, it
// logs that, since nothing else happens meanwhile.
func (f *ModuleFlags) engineAnnounced(ctx context.Context, log *slog.Logger) (*host.Engine, error) {
	start, wait := time.Now(), compilesFor
	if f.CachePath() != "" && !f.hasCompiled() {
		wait = 0
	}
	slow := time.AfterFunc(wait, func() {
		log.Info("compiling the module for this machine; later starts take it from the cache", "cache_dir", f.CachePath())
	})
	engine, err := f.engineWith(ctx, nil)
	if !slow.Stop() && err == nil {
		log.Info("compiled the module", "seconds", time.Since(start).Round(10*time.Millisecond).Seconds())
	}
	return engine, err
}

// Blob returns the lists of --lists, verified if there is a key, or nil.
func (f *ModuleFlags) Blob() ([]byte, error) {
	switch {
	case f.Lists == "":
		return nil, nil
	case f.ListsKey.IsZero():
		return store.ReadBlob(f.Lists)
	}
	release, err := f.ListsFile().Read()
	if err != nil {
		return nil, err
	}
	return release.Blob, nil
}

// ListsFile returns the file of --lists with the key of --lists-key.
func (f *ModuleFlags) ListsFile() store.File {
	return store.File{Path: f.Lists, Key: f.ListsKey.PublicKey}
}

// Wasm returns the module.
func (f *ModuleFlags) Wasm() ([]byte, error) {
	if f.Module == "" {
		return module.Bytes()
	}
	wasm, err := os.ReadFile(f.Module)
	if err != nil {
		return nil, fmt.Errorf("--module: %w", err)
	}
	return wasm, nil
}

// Source returns the module's name for an error.
func (f *ModuleFlags) Source() string {
	if f.Module == "" {
		return "the built-in module"
	}
	return "--module " + f.Module
}

func (f *ModuleFlags) CachePath() string {
	if f.CacheDir != "" {
		return f.CacheDir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "" // compile at each start
	}
	return filepath.Join(dir, "addrspec")
}

// Flags returns the module's flags for every check.
func (f *ModuleFlags) Flags() host.Flags {
	if f.TypoSuggestion == "address" {
		return host.FullSuggestion
	}
	return 0
}

// ListsKey is a flag's public key, given as minisign's line or as a .pub file.
type ListsKey struct{ feed.PublicKey }

// UnmarshalText parses a key, or reads its file. Its errors do not repeat a key,
// which may be a secret one by mistake.
func (k *ListsKey) UnmarshalText(text []byte) (err error) {
	given := string(text)
	if given == "" {
		return nil
	}
	if !feed.IsKey(given) {
		if given, err = readKeyFile(given); err != nil {
			return err
		}
	}
	k.PublicKey, err = feed.ParsePublicKey(given)
	return err
}

func readKeyFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("neither a public key of minisign nor a file with one: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, feed.MaxKey))
	return string(text), err
}

// ErrNoKey is the error of a command that needs --lists-key.
var ErrNoKey = UsageError{Err: errors.New("--lists-key is missing: give the public key of the signer, or a .pub file with it. " +
	"For a feed of your own, 'addrspec lists keygen lists.key' makes a key pair, and './build.sh lists --latest --sign lists.key --feed DIR' signs")}

// By how many percent the heap may grow before a collection.
const (
	// startGrowth is for the start of the module. It lets the heap reach 32 MB before the
	// first collection, since the runtime counts from 4 MB, and most of what a start
	// allocates remains in use. Measured on `check` of one address: 21.6 ms of processor
	// time with it, 25.4 with Go's 100, 24.0 with 100 and 32 MB that are never touched
	// (medians of 60 runs in turn).
	startGrowth = 800
	usualGrowth = 100
	// serveGrowth is for serve. Each instance of the module counts with its 11 MB of
	// addresses, of which it touches 2 MB, so Go's 100 % let the heap grow by more than the
	// service has in use. Measured after load: 76 MB at 40 %, 79 at 50 %, 97 at 100 %. At
	// 40 %, 32, 128 and 512 connections have 0.98, 0.95 and 0.96 of their GETs served a
	// second (medians of 8 runs in turn, quiet machine). GOGC=100 gives these back where
	// memory allows.
	serveGrowth = 40
)

// A collector sets the growth, unless GOGC does.
type collector struct {
	mu     sync.Mutex
	growth int // after the start
}

var ProcessCollector = &collector{growth: usualGrowth}

// begin sets startGrowth until the first collection.
func (c *collector) begin() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(startGrowth)
	// The first collection finds that nothing uses this value.
	runtime.AddCleanup(new([16]byte), func(c *collector) { c.end(0) }, c)
}

// end ends the start: growth applies from now on, or what applied if it is 0.
func (c *collector) end(growth int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if growth != 0 {
		c.growth = growth
	}
	debug.SetGCPercent(c.growth)
}
