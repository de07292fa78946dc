package main

import (
	"log/slog"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/signuphook"
)

// signUpHooks reads the file of --hooks. Without it there are none: nil.
func (c *serveCmd) signUpHooks(l *ledger.Ledger) (*signuphook.Registry, error) {
	if c.Hooks == "" {
		return nil, nil
	}
	set, err := signuphook.Load(c.Hooks)
	if err != nil {
		return nil, err
	}
	return signuphook.NewRegistry(set, signuphook.NewPayers(l)), nil
}

// reloadHooks reads the file and its secrets again. An invalid file changes nothing.
func (c *serveCmd) reloadHooks(log *slog.Logger, o *origin) {
	if o.signUps == nil {
		return
	}
	set, err := signuphook.Load(c.Hooks)
	if err != nil {
		log.Error("the new sign-up hooks are invalid; the old ones remain in use", "error", err.Error())
		return
	}
	o.signUps.Replace(set)
	log.Info("reloaded the sign-up hooks", "hooks_file", c.Hooks, "hooks", len(set.Hooks()))
}
