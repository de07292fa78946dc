package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/addrspec/addrspec/lists/extra"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/store"
	"github.com/addrspec/addrspec/origin/words"
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
	engine, err := host.New(ctx, wasm, host.Options{CacheDir: f.CachePath(), Lists: blob})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Source(), err)
	}
	return engine, nil
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

// CachePath returns the directory for compiled machine code, "" if there is none.
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
		given, err = ReadStart(given, feed.MaxKey)
		if err != nil {
			return fmt.Errorf("neither a public key of minisign nor a file with one: %w", err)
		}
	}
	k.PublicKey, err = feed.ParsePublicKey(given)
	return err
}

// ErrNoKey is the error of a command that needs --lists-key.
var ErrNoKey = UsageError{Err: errors.New("--lists-key is missing: give the public key of the signer, or a .pub file with it. " +
	"For a feed of your own, 'addrspec lists keygen lists.key' makes a key pair, and './build.sh lists --latest --sign lists.key --feed DIR' signs")}

// Ages of lists. Disposable domains live for weeks, so lists of two weeks miss
// some; deploy/alerts.yaml has an alert at the same age.
const (
	AgingLists = 14 * 24 * time.Hour
	StaleLists = 180 * 24 * time.Hour
)

// ListsAge returns the time since the sources of lists were last read: 0 for a
// version without a date.
func ListsAge(version string, now time.Time) time.Duration {
	read, err := feed.Day(version)
	if err != nil {
		return 0
	}
	return max(0, now.Sub(read))
}

// CheckListsAge describes the age of lists. It returns an error for lists that
// are older than most.
func CheckListsAge(version string, most time.Duration, now time.Time) (string, error) {
	if _, err := feed.Day(version); err != nil {
		return "", err
	}
	age := ListsAge(version, now)
	if age >= most {
		return "", fmt.Errorf("%s is %s old: fetch newer ones with 'addrspec lists update --from URL --lists FILE', "+
			"or serve with --lists-url; without a feed, './build.sh lists --latest' packs them in lists/lists.blob, for --lists",
			version, words.Days(age))
	}
	return fmt.Sprintf("%s, %s old", version, words.Days(age)), nil
}
