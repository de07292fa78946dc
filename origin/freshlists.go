package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/addrspec/addrspec/origin/listupdate"
	"github.com/addrspec/addrspec/wasm/host"
)

// startLists makes the lists of --lists those in use, and returns what keeps them
// fresh.
func (c *serveCmd) startLists(ctx context.Context, log *slog.Logger, engine *host.Engine) (*listupdate.Keeper, error) {
	k := &listupdate.Keeper{Engine: engine, File: c.listsFile(), Log: log, Interval: c.ListsInterval}
	if c.ListsURL != "" {
		var err error
		if k.Source, err = listupdate.ParseURL(c.ListsURL); err != nil {
			return nil, err
		}
	}
	if err := k.Start(ctx, engine.View().Info().Lists); err != nil {
		return nil, fmt.Errorf("--lists: %w", err)
	}
	return k, nil
}

// checkLists rejects settings of lists that cannot work.
func (c *serveCmd) checkLists() error {
	err := checkTime("--lists-interval", c.ListsInterval, listupdate.ShortestInterval, listupdate.LongestInterval)
	if c.ListsURL == "" {
		return err
	}
	if _, wrong := listupdate.ParseURL(c.ListsURL); wrong != nil {
		err = errors.Join(err, fmt.Errorf("--lists-url: %w", wrong)) // it may contain a password
	}
	if c.ListsKey.IsZero() {
		err = errors.Join(err, fmt.Errorf("--lists-url needs a key: %w", errNoKey))
	}
	return err
}

// listsSource returns where the feed is, without secrets, for the log.
func (c *serveCmd) listsSource() string {
	source, err := listupdate.ParseURL(c.ListsURL)
	if err != nil {
		return ""
	}
	return source.String()
}
