package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Installer installs peers and starts their adapters.
type Installer struct {
	Root  string // the folder of this package
	Build string // a folder for what is built

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
