package dashboard

import (
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// functions are what templates call.
var functions = template.FuncMap{
	"asset":      assetPath,
	"number":     formatNumber,
	"date":       formatDate,
	"dateOfDay":  dateOfDay,
	"time":       formatTime,
	"limit":      formatLimit,
	"plansOf":    func(plans []string, plan string) plansOf { return plansOf{plans, plan} },
	"nav":        navLink,
	"tab":        tabLink,
	"graces":     func() []grace { return graces },
	"barsPath":   barsPath,
	"requests":   requestsOf,
	"termsOf":    termsOf,
	"termsOfKey": termsOfKey,
	"deref":      func(n *int64) int64 { return *n },
	"visible":    visible,
	"usageHeads": func() []string { return usageHeads },

	"passkeyForm": newPasskeyForm,
}

// A navItem is a link of the navigation.
type navItem struct {
	Path, Label string
	Here        bool
}

func navLink(f *frame, path, label string) navItem { return navItem{path, label, f.Here(path)} }

// tabLink is a link between pages of operators, the first of which is above the
// others.
func tabLink(f *frame, path, label string) navItem {
	return navItem{path, label, f.Path == path || path == "/dashboard/operator" && strings.Contains(f.Path, "/accounts/")}
}

// plansOf are the options of a plan.
type plansOf struct {
	Plans []string
	Plan  string // the one selected
}

// formatLimit returns a limit as people read it.
func formatLimit(l ledger.Limit) string {
	if l == ledger.Unlimited {
		return "unlimited"
	}
	return formatNumber(int64(l))
}

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

// dateOfDay returns a day such as 2026-11-22 in the form of other dates.
func dateOfDay(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return formatDate(t)
}

// formatTime returns a time in UTC; the zero time is empty.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 Jan 2006, 15:04") + " UTC"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
