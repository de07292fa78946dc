// Package words puts numbers, waits and times into English words. The command line, the API
// and the dashboard's pages use it, so that the same fact has the same words everywhere.
package words

import (
	"strconv"
	"time"

	"github.com/dustin/go-humanize/english"
)

// Count returns a number with its noun in the singular or the regular plural: "1 point",
// "2,000 points".
func Count[N ~int | ~int64](n N, noun string) string { return english.Plural(int(n), noun, "") }

// Wait returns a wait for people, rounded up to the unit of which there are few: "1 second",
// "3 minutes", "5 hours".
func Wait(d time.Duration) string {
	unit, noun := time.Second, "second"
	switch {
	case d > 2*time.Hour:
		unit, noun = time.Hour, "hour"
	case d > 2*time.Minute:
		unit, noun = time.Minute, "minute"
	}
	return Count(max(1, int((d+unit-1)/unit)), noun)
}

// Seconds returns a wait as WholeSeconds, without commas, because programs read it too:
// "1 second", "86400 seconds".
func Seconds(d time.Duration) string {
	n := WholeSeconds(d)
	return strconv.Itoa(n) + " " + english.PluralWord(n, "second", "")
}

// WholeSeconds returns a wait in seconds, rounded up, at least 1.
func WholeSeconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

// Days returns a span in whole days, rounded down: "1 day", "20 days".
func Days(d time.Duration) string { return Count(int(d.Hours()/24), "day") }

// Date returns a day in UTC: "1 Dec 2026".
func Date(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// Time returns a day and a minute in UTC: "1 Dec 2026, 00:00 UTC".
func Time(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }
