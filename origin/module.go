package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/addrspec/addrspec/lists/feed/store"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/module"
)

// moduleFlags select the module and its lists.
type moduleFlags struct {
	Module   string   `placeholder:"FILE" help:"An addrspec.wasm to use in place of the built-in one."`
	Lists    string   `placeholder:"FILE" help:"A blob of newer lists. serve takes it over when the file changes and on SIGHUP."`
	ListsKey listsKey `placeholder:"KEY|FILE" help:"The public key that signs the lists: the line of minisign that begins with RW, or a .pub file. With it, only lists that it signed are used."`
	CacheDir string   `placeholder:"DIR" help:"A folder for compiled machine code, so that later starts are faster (default: addrspec in the user's cache folder)."`

	TypoSuggestion string `enum:"domain,address" default:"domain" help:"What typo_suggestion contains: domain or address."`
}

// engine starts the module with the lists of --lists.
func (f *moduleFlags) engine(ctx context.Context) (*host.Engine, error) {
	blob, err := f.blob()
	if err != nil {
		return nil, fmt.Errorf("--lists: %w", err)
	}
	return f.engineWith(ctx, blob)
}

// engineWith starts the module with the lists of blob; nil means its own.
func (f *moduleFlags) engineWith(ctx context.Context, blob []byte) (*host.Engine, error) {
	wasm, err := f.wasm()
	if err != nil {
		return nil, err
	}
	processCollector.begin()
	engine, err := host.Open(ctx, wasm, host.Options{CacheDir: f.cacheDir(), Lists: blob})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.source(), err)
	}
	return engine, nil
}

// compilesFor is how long the module may take from the cache. Compiling it takes
// half a second to seconds.
const compilesFor = 500 * time.Millisecond

// hasCompiled reports whether the cache was used before, perhaps for another module.
func (f *moduleFlags) hasCompiled() bool {
	entries, _ := os.ReadDir(f.cacheDir()) // none if there is no such folder
	return len(entries) > 0
}

// engineAnnounced starts the module with its own lists. If it has to be compiled, it
// logs that, since nothing else happens meanwhile.
func (f *moduleFlags) engineAnnounced(ctx context.Context, log *slog.Logger) (*host.Engine, error) {
	start, wait := time.Now(), compilesFor
	if f.cacheDir() != "" && !f.hasCompiled() {
		wait = 0
	}
	slow := time.AfterFunc(wait, func() {
		log.Info("compiling the module for this machine; later starts take it from the cache", "cache_dir", f.cacheDir())
	})
	engine, err := f.engineWith(ctx, nil)
	if !slow.Stop() && err == nil {
		log.Info("compiled the module", "seconds", time.Since(start).Round(10*time.Millisecond).Seconds())
	}
	return engine, err
}

// blob returns the lists of --lists, verified if there is a key, or nil.
func (f *moduleFlags) blob() ([]byte, error) {
	switch {
	case f.Lists == "":
		return nil, nil
	case f.ListsKey.IsZero():
		return store.ReadBlob(f.Lists)
	}
	release, err := f.listsFile().Read()
	if err != nil {
		return nil, err
	}
	return release.Blob, nil
}

// listsFile returns the file of --lists with the key of --lists-key.
func (f *moduleFlags) listsFile() store.File {
	return store.File{Path: f.Lists, Key: f.ListsKey.PublicKey}
}

// wasm returns the module. A file is read at once, since it may change later.
func (f *moduleFlags) wasm() (*io.SectionReader, error) {
	if f.Module == "" {
		return module.Open()
	}
	wasm, err := os.ReadFile(f.Module)
	if err != nil {
		return nil, fmt.Errorf("--module: %w", err)
	}
	return io.NewSectionReader(bytes.NewReader(wasm), 0, int64(len(wasm))), nil
}

// source returns the module's name for an error.
func (f *moduleFlags) source() string {
	if f.Module == "" {
		return "the built-in module"
	}
	return "--module " + f.Module
}

func (f *moduleFlags) cacheDir() string {
	if f.CacheDir != "" {
		return f.CacheDir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "" // compile at each start
	}
	return filepath.Join(dir, "addrspec")
}

// flags returns the module's flags for every check.
func (f *moduleFlags) flags() host.Flags {
	if f.TypoSuggestion == "address" {
		return host.FullSuggestion
	}
	return 0
}
