package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/signuphook"
)

// signUpHooks reads the file of --hooks. Without it there are none: nil. An account may
// be created later, so a missing one is a warning.
func (c *serveCmd) signUpHooks(ctx context.Context, log *slog.Logger, l *ledger.Ledger) (*signuphook.Registry, error) {
	if c.Hooks == "" {
		return nil, nil
	}
	set, err := signuphook.Load(c.Hooks)
	if err != nil {
		return nil, err
	}
	for _, h := range set.Hooks() {
		if _, err := l.AccountByEmail(ctx, h.Account); err != nil {
			log.Warn("the account that pays for the sign-up hook "+h.Name+" cannot be found; its calls are decided by on_error", "error", err.Error())
		}
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

// signUpHooks validates the file of --hooks, for doctor.
func (c *doctorCmd) signUpHooks(context.Context) (string, error) {
	if c.Hooks == "" {
		return "", nil
	}
	set, err := signuphook.Load(c.Hooks)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d valid", len(set.Hooks())), nil
}
