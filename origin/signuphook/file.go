package signuphook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/addrspec/addrspec/wasm/host"
)

// Bounds of the file.
const (
	maxFile  = 1 << 20 // bytes
	maxHooks = 100
)

// A Set is the hooks of one file. It does not change.
type Set struct {
	hooks  []*Hook
	byName map[string]*Hook
}

// Hooks returns the hooks in the order of the file.
func (s *Set) Hooks() []*Hook { return s.hooks }

// Find returns the hook with a name, or nil.
func (s *Set) Find(name string) *Hook {
	if s == nil {
		return nil
	}
	return s.byName[name]
}

// document is the file as JSON.
type document struct {
	Hooks []entry `json:"hooks"`
}

// Load reads a file of hooks, their secrets and policies, which engine checks. Paths in
// the file are relative to its directory. No error has a secret.
func Load(ctx context.Context, engine *host.Engine, path string) (*Set, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("it is over 1 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("hooks of %s: %w", path, err)
	}
	set, err := parse(text, filepath.Dir(path))
	if err == nil {
		err = set.compile(ctx, engine)
	}
	if err != nil {
		return nil, fmt.Errorf("hooks of %s: %w", path, err)
	}
	return set, nil
}

// parse reads the text of a file in a directory.
func parse(text []byte, directory string) (*Set, error) {
	var d document
	if err := json.Unmarshal(text, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, located(text, err)
	}
	if len(d.Hooks) == 0 || len(d.Hooks) > maxHooks {
		return nil, fmt.Errorf(`"hooks" must be an array of 1 to %d hooks, and has %d`, maxHooks, len(d.Hooks))
	}
	set := &Set{byName: map[string]*Hook{}}
	for n := range d.Hooks {
		h, err := d.Hooks[n].hook(directory)
		if err == nil && set.byName[h.Name] != nil {
			err = errors.New("an earlier hook has this name too")
		}
		if err != nil {
			return nil, placed(n, d.Hooks[n].Name, err)
		}
		set.hooks, set.byName[h.Name] = append(set.hooks, h), h
	}
	return set, nil
}

// compile has the module check the policies.
func (s *Set) compile(ctx context.Context, engine *host.Engine) error {
	for n, h := range s.hooks {
		if err := h.policy.compile(ctx, engine); err != nil {
			return placed(n, h.Name, err)
		}
	}
	return nil
}

// placed says which hook an error is about.
func placed(n int, name string, err error) error {
	return fmt.Errorf("hook %d%s: %w", n+1, quoted(name), err)
}

// quoted returns a name for an error, shortened.
func quoted(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (%.70q)", name)
}

// located says on which line of the file an error is and what is expected there.
func located(text []byte, err error) error {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d is not valid JSON: %w", lineOf(text, syntax.ByteOffset), cmp.Or(syntax.Err, err))
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &semantic):
		return fmt.Errorf("line %d: %q is not a member that a hook has; the members are in origin/deploy/hooks.md",
			lineOf(text, semantic.ByteOffset), semantic.JSONPointer.LastToken())
	case errors.As(err, &semantic):
		return fmt.Errorf("line %d: %q has the wrong type or value (%s in the file); see origin/deploy/hooks.md",
			lineOf(text, semantic.ByteOffset), semantic.JSONPointer.LastToken(), semantic.JSONKind)
	}
	return err
}

func lineOf(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
}
