package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/module"
)

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
	root, err := sourceFolder(ctx)
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
	pack := exec.CommandContext(ctx, "go", "run", "./lists/pack", "-dir", dir)
	pack.Dir = root
	if _, err := pack.Output(); err != nil {
		return nil, explain(err)
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
