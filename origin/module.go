package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/module"
)

// moduleFlags select the module and its lists.
type moduleFlags struct {
	Module   string `placeholder:"FILE" help:"An addrspec.wasm to use in place of the built-in one."`
	Lists    string `placeholder:"FILE" help:"A packed blob of newer lists. serve reloads it when the file changes and on SIGHUP."`
	CacheDir string `placeholder:"DIR" help:"A folder for compiled machine code, so that later starts are faster (default: addrspec in the user's cache folder)."`

	TypoSuggestion string `enum:"domain,address" default:"domain" help:"What typo_suggestion contains: domain or address."`
}

// engine starts the module.
func (f *moduleFlags) engine(ctx context.Context) (*host.Engine, error) {
	wasm, err := f.wasm()
	if err != nil {
		return nil, err
	}
	options := host.Options{CacheDir: f.cacheDir()}
	if f.Lists != "" {
		if options.Lists, err = os.ReadFile(f.Lists); err != nil {
			return nil, fmt.Errorf("--lists: %w", err)
		}
	}
	engine, err := host.New(ctx, wasm, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.source(), err)
	}
	return engine, nil
}

func (f *moduleFlags) wasm() ([]byte, error) {
	if f.Module == "" {
		return module.Bytes()
	}
	wasm, err := os.ReadFile(f.Module)
	if err != nil {
		return nil, fmt.Errorf("--module: %w", err)
	}
	return wasm, nil
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
