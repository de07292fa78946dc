package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/update"
)

// openLists takes the lists of --lists into use, with the rows of --lists-extra.
func (s *Service) openLists(ctx context.Context) (err error) {
	k := &update.Keeper{Engine: s.engine, File: s.ListsFile(), Extra: s.ListsExtra, Log: s.log.Logger, Interval: s.ListsInterval}
	if s.ListsURL != "" {
		if k.Source, err = update.ParseURL(s.ListsURL); err != nil {
			return err
		}
	}
	if err := k.Start(ctx, s.engine.View().Info().Lists); err != nil {
		return err
	}
	s.lists = k
	return nil
}

// checkLists rejects settings of lists that cannot work.
func (c *Config) checkLists() error {
	err := checkTimeIn("--lists-interval", c.ListsInterval, update.ShortestInterval, update.LongestInterval)
	if c.ListsURL == "" {
		return err
	}
	if _, wrong := update.ParseURL(c.ListsURL); wrong != nil {
		err = errors.Join(err, fmt.Errorf("--lists-url: %w", wrong)) // it may contain a password
	}
	if c.ListsKey.IsZero() {
		err = errors.Join(err, fmt.Errorf("--lists-url needs a key: %w", ErrNoKey))
	}
	return err
}

// listsSource returns where the feed is, without secrets, for the log.
func (c *Config) listsSource() string {
	source, err := update.ParseURL(c.ListsURL)
	if err != nil {
		return ""
	}
	return source.String()
}

// Ages of lists. Disposable domains live for weeks, so lists of two weeks miss
// some; deploy/alerts.yaml has an alert at the same age.
const (
	AgingLists = 14 * 24 * time.Hour
	StaleLists = 180 * 24 * time.Hour
)

// FreshLists says how to get newer lists.
const FreshLists = "fetch newer ones with 'addrspec lists update --from URL --lists FILE', or serve with --lists-url; " +
	"without a feed, './build.sh lists --latest' packs them in lists/lists.blob, for --lists"

// ListsAge returns the time since the sources of lists were last read: 0 for a
// version without a date.
func ListsAge(version string, now time.Time) time.Duration {
	read, err := feed.Day(version)
	if err != nil {
		return 0
	}
	return max(0, now.Sub(read))
}

// Days formats an age in whole days.
func Days(age time.Duration) string {
	return english.Plural(int(age.Hours()/24), "day", "")
}

// CheckListsAge describes the age of lists. It returns an error for lists that
// are older than most.
func CheckListsAge(version string, most time.Duration, now time.Time) (string, error) {
	if _, err := feed.Day(version); err != nil {
		return "", err
	}
	age := ListsAge(version, now)
	if age >= most {
		return "", fmt.Errorf("%s is %s old: %s", version, Days(age), FreshLists)
	}
	return fmt.Sprintf("%s, %s old", version, Days(age)), nil
}
