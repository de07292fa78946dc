package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/origin/doctor"
	"github.com/addrspec/addrspec/origin/listupdate"
)

// lists checks the lists in use: that the module takes them, their age and their
// signature.
func (c *doctorCmd) lists(ctx context.Context, e *engineDoctor) (string, error) {
	info, err := e.info(ctx)
	if err != nil {
		return "", err
	}
	detail, err := checkListsAge(info.Lists, staleLists, time.Now())
	if err != nil {
		return "", err
	}
	if _, err := checkListsAge(info.Lists, agingLists, time.Now()); err != nil {
		return "", doctor.Advice{Err: err}
	}
	signature, err := c.signature(time.Now())
	return detail + signature, err
}

// signature checks the signature of the file of --lists, if there is a key.
func (c *doctorCmd) signature(now time.Time) (string, error) {
	if c.Lists == "" || c.ListsKey.IsZero() {
		return "", nil
	}
	release, err := c.listsFile().Read()
	if err != nil {
		return "", err
	}
	if err := release.Fresh(now); err != nil {
		return "", doctor.Advice{Err: fmt.Errorf("%w; serve goes on using them", err)}
	}
	return ", signed, valid for " + days(release.Expires.Sub(now)), nil
}

// feed checks the feed of --lists-url, if there is one.
func (c *doctorCmd) feed(ctx context.Context) (string, error) {
	if c.ListsURL == "" {
		return "", nil
	}
	source, err := listupdate.ParseURL(c.ListsURL)
	if err != nil {
		return "", fmt.Errorf("--lists-url %w", err)
	}
	if c.ListsKey.IsZero() {
		return "", errors.New("--lists-url needs --lists-key")
	}
	release, err := source.Newer(ctx, c.ListsKey.PublicKey, feed.InUse{}, time.Now())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has %s, valid for %s", source, release.Version, days(time.Until(release.Expires))), nil
}
