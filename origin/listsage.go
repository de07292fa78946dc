package main

import (
	"fmt"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
)

// Ages of lists. Disposable domains live for weeks, so lists of two weeks miss
// some; deploy/alerts.yaml has an alert at the same age.
const (
	agingLists = 14 * 24 * time.Hour
	staleLists = 180 * 24 * time.Hour
)

// freshLists says how to get newer lists.
const freshLists = "fetch newer ones with 'addrspec lists update --from URL --lists FILE', or serve with --lists-url; " +
	"without a feed, './build.sh lists --latest' packs them in lists/lists.blob, for --lists"

// listsAge returns the time since the sources of lists were last read: 0 for a
// version without a date.
func listsAge(version string, now time.Time) time.Duration {
	read, err := feed.Day(version)
	if err != nil {
		return 0
	}
	return max(0, now.Sub(read))
}

// days formats an age in whole days.
func days(age time.Duration) string {
	n := int(age.Hours() / 24)
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}

// checkListsAge describes the age of lists. It returns an error for lists that
// are older than most.
func checkListsAge(version string, most time.Duration, now time.Time) (string, error) {
	if _, err := feed.Day(version); err != nil {
		return "", err
	}
	age := listsAge(version, now)
	if age >= most {
		return "", fmt.Errorf("%s is %s old: %s", version, days(age), freshLists)
	}
	return fmt.Sprintf("%s, %s old", version, days(age)), nil
}
