// Package peers runs other tools on the rows on which core is measured.
//
// A peer is a package of npm, of PyPI or of the Go proxy, with a small adapter: a
// program that reads rows as JSON lines on its standard input and writes a line with the
// result of each. Install fetches pinned versions, whose integrity the lock files next to
// the adapters record; nothing of a peer is committed. A peer that cannot be installed or
// started is left out with the reason, and a row for which it has no result is counted
// as such.
package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Question names the check that a row is for.
type Question string

// The questions, and the value and the result of each.
const (
	Valid      Question = "valid"      // an address: yes if it is valid
	Random     Question = "random"     // a local part: yes if it is gibberish, with a score
	Typo       Question = "typo"       // a domain: the text is the suggested one, or empty
	Disposable Question = "disposable" // a domain: yes if it is listed
	Public     Question = "public"     // a domain: yes if it is listed
	Role       Question = "role"       // a local part: yes if it is a role account
	Canonical  Question = "canonical"  // an address: the text identifies the mailbox
)

// Result is a tool's result for one row.
type Result struct {
	Yes   bool    `json:"yes"`
	Text  string  `json:"text"`
	Score float64 `json:"score"` // higher is more random
	None  string  `json:"none"`  // why there is no result
}

// Peer is a tool with an adapter.
type Peer struct {
	Name      string
	Adapter   string // names the program in the registry's directory
	Questions []Question
	registry  registry
}

// Supports reports whether the peer has a check for a question.
func (p Peer) Supports(q Question) bool { return slices.Contains(p.Questions, q) }

// All returns every peer. One is added by a line here, its package in the lock file
// of its registry, and an adapter.
func All() []Peer {
	return []Peer{
		{"validator", "validator", []Question{Valid, Canonical}, npm{}},
		{"isemail", "isemail", []Question{Valid}, npm{}},
		{"asdfjkl", "asdfjkl", []Question{Random}, npm{}},
		{"gibberish-detective", "gibberish-detective", []Question{Random}, npm{}},
		{"mailcheck", "mailcheck", []Question{Typo}, npm{}},
		{"@zootools/email-spell-checker", "zootools", []Question{Typo}, npm{}},
		{"email-misspelled", "email-misspelled", []Question{Typo}, npm{}},
		{"mailchecker", "mailchecker", []Question{Disposable}, npm{}},
		{"disposable-email-domains", "disposable-email-domains", []Question{Disposable}, npm{}},
		{"free-email-domains", "free-email-domains", []Question{Public}, npm{}},
		{"role-based-email-addresses", "role-based-email-addresses", []Question{Role}, npm{}},
		{"email-validator", "email-validator", []Question{Valid}, pypi{}},
		{"nostril-detector", "nostril-detector", []Question{Random}, pypi{}},
		{"gibberish-detector", "gibberish-detector", []Question{Random}, pypi{}},
		{"disposable-email-domains", "disposable-email-domains", []Question{Disposable}, pypi{}},
		{"email-normalize", "email-normalize", []Question{Canonical}, pypi{}},
		{"github.com/AfterShip/email-verifier", "golang", []Question{Valid, Typo, Disposable, Public, Role}, golang{}},
	}
}

// String returns the name and where the peer is from: names repeat between
// registries.
func (p Peer) String() string { return p.Name + " (" + p.registry.String() + ")" }

// Installer installs peers and starts their adapters.
type Installer struct {
	Root  string // the directory of this package
	Build string // the directory of built programs

	done map[string]error // by registry or peer
}

// Start installs a peer if it is not installed yet, and starts its adapter.
func (i *Installer) Start(ctx context.Context, p Peer) (*Process, error) {
	var err error
	if i.Build, err = filepath.Abs(i.Build); err != nil {
		return nil, err
	}
	if err := i.install(ctx, p); err != nil {
		return nil, err
	}
	return start(func() *command { return adapter(p.registry.command(i.Root, i.Build, p)) })
}

// Version returns the pinned version of a peer.
func (i *Installer) Version(p Peer) (string, error) { return p.registry.version(i.Root, p.Name) }

// install installs a registry that installs all of its peers together only once.
func (i *Installer) install(ctx context.Context, p Peer) error {
	key := p.String()
	if p.registry.together() {
		key = p.registry.String()
	}
	err, done := i.done[key]
	if done {
		return err
	}
	fmt.Fprintln(os.Stderr, "eval: install", key)
	err = p.registry.install(ctx, i.Root, i.Build, p)
	if i.done == nil {
		i.done = map[string]error{}
	}
	i.done[key] = err
	return err
}
