package dashboard

import (
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// functions are what templates call.
var functions = template.FuncMap{
	"asset":      assetPath,
	"number":     formatNumber,
	"date":       formatDate,
	"time":       formatTime,
	"nav":        navLink,
	"graces":     func() []grace { return graces },
	"termsOf":    termsOf,
	"termsOfKey": termsOfKey,
}

// A navItem is a link of the navigation.
type navItem struct {
	Path, Label string
	Here        bool
}

func navLink(f *frame, path, label string) navItem { return navItem{path, label, f.Here(path)} }

// formatNumber separates thousands.
func formatNumber(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// formatDate returns a date in UTC; the zero time is empty.
func formatDate(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 Jan 2006")
}

// formatTime returns a time in UTC; the zero time is empty.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 Jan 2006, 15:04") + " UTC"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
