package peers

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryPeerIsPinnedAndHasAnAdapter(t *testing.T) {
	i := &Installer{Root: "."}
	for _, p := range All() {
		version, err := i.Version(p)
		require.NoError(t, err)
		require.Regexp(t, `^v?\d+\.\d+\.\d+$`, version, p.Name)
		require.FileExists(t, adapterFile(p))
	}
}

func adapterFile(p Peer) string {
	switch p.registry.(type) {
	case npm:
		return "node/adapters/" + p.Adapter + ".mjs"
	case pypi:
		return "python/adapters/with_" + python3Name(p.Adapter) + ".py"
	}
	return "golang/main.go"
}

func python3Name(adapter string) string {
	name := []byte(adapter)
	for i, b := range name {
		if b == '-' {
			name[i] = '_'
		}
	}
	return string(name)
}

func TestLockFilesHaveAnIntegrityForEveryPackage(t *testing.T) {
	requirements, err := filepath.Glob("python/requirements/*.txt")
	require.NoError(t, err)
	for _, file := range requirements {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Regexp(t, `^(\S+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+\n)+$`, string(text), file)
	}
}

// Without a program, the peers of its registry are left out by name, and the reason
// says which program.
func TestMissingProgramIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	i := &Installer{Root: t.TempDir(), Build: t.TempDir()}
	missing := map[string]string{"npm": "node", "PyPI": "python3", "Go": "go"}
	for _, p := range All() {
		_, err := i.Start(context.Background(), p)
		require.EqualError(t, err, missing[p.registry.String()]+" is not installed", p.String())
	}
}

func TestRegistryOutOfReachIsReportedWithItsMessage(t *testing.T) {
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\necho 'npm error code ENOTFOUND' >&2\necho 'npm error A complete log is elsewhere' >&2\nexit 1\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "node"), []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", bin)
	i := &Installer{Root: t.TempDir(), Build: t.TempDir()}
	_, err := i.Start(context.Background(), All()[0])
	require.EqualError(t, err, "npm: exit status 1: npm error code ENOTFOUND")
}

// known are rows for which every tool has the same result.
var known = map[Question]struct{ yes, no string }{
	Valid:      {"jane@example.com", "jane@@example.com"},
	Random:     {"xkqzjwvvbqhd", "christopher"},
	Disposable: {"mailinator.com", "example.org"},
	Public:     {"gmail.com", "example.org"},
	Role:       {"info", "jane"},
}

// With ADDRSPEC_ALL the peers are installed from their registries. One that cannot
// be is skipped by name.
func TestAdapters(t *testing.T) {
	if os.Getenv("ADDRSPEC_ALL") == "" {
		t.Skip("left to ./build.sh test all: installs packages of others")
	}
	i := &Installer{Root: ".", Build: "../../../dist/eval"}
	for _, p := range All() {
		t.Run(p.String(), func(t *testing.T) {
			process, err := i.Start(context.Background(), p)
			if err != nil {
				t.Skip(err)
			}
			defer process.Stop()
			for _, question := range p.Questions {
				requireResults(t, process, question)
			}
		})
	}
}

func requireResults(t *testing.T, p *Process, question Question) {
	switch question {
	case Typo:
		require.Equal(t, Result{Text: "gmail.com"}, p.Ask(Typo, "gmaiil.com"))
		require.Empty(t, p.Ask(Typo, "gmail.com").Text)
	case Canonical:
		require.Equal(t, p.Ask(Canonical, "janedoe@gmail.com"), p.Ask(Canonical, "jane.doe+x@gmail.com"))
	default:
		yes, no := p.Ask(question, known[question].yes), p.Ask(question, known[question].no)
		require.Empty(t, yes.None+no.None)
		require.True(t, yes.Yes, question)
		require.False(t, no.Yes, question)
		require.True(t, question != Random || yes.Score > no.Score)
	}
}
