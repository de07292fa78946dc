package account

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/wasm/host"
)

func TestBanner(t *testing.T) {
	refill := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	banner := func(used int64, limit book.Limit, overage bool) *bannerView {
		view := viewOfPoints(book.Account{Used: used, Points: limit, Overage: overage, Refill: refill})
		return view.banner()
	}
	require.Nil(t, banner(799, 1000, false))
	require.Nil(t, banner(1e9, book.Unlimited, false))
	require.Equal(t, &bannerView{"warn", "You have used 800 of 1,000 points this month. After the last one, requests are refused until the points refill on 1 Dec 2026."}, banner(800, 1000, false))
	require.Equal(t, &bannerView{"warn", "You have used 999 of 1,000 points this month. After the last one, requests go on and further points count as overage until 1 Dec 2026."}, banner(999, 1000, true))
	require.Equal(t, &bannerView{"bad", "You have used 1,000 of 1,000 points this month: requests are refused until the points refill on 1 Dec 2026. Your operator can raise the limit."}, banner(1000, 1000, false))
	require.Equal(t, &bannerView{"warn", "You have used 1,500 of 1,000 points this month: requests go on, and further points count as overage until 1 Dec 2026."}, banner(1500, 1000, true))
	require.Equal(t, "bad", banner(0, 0, false).Tone)
}

func TestNiceTop(t *testing.T) {
	for n, want := range map[int64]int64{0: 2, 1: 2, 2: 2, 3: 4, 5: 6, 10: 10, 11: 12, 13: 16, 17: 20, 41: 60, 2200: 4000, 1e15 + 1: 12e14} {
		require.Equal(t, want, niceTop(n), n)
	}
}

// The parts of a bar are above each other, in the units of the SVG.
func TestNewChart(t *testing.T) {
	first, err := book.ParseDay("2026-10-28")
	require.NoError(t, err)
	c := NewChart([]string{"shop", "Other keys"}, true, first, [][]int64{{10, 5}, {0, 0}, {1200, 800}, {0, 1}})
	require.Equal(t, []string{"2,000", "1,000", "28 Oct", "30 Oct", "31 Oct"}, append([]string{c.Top, c.Middle}, c.Ticks...))
	require.Equal(t, []ChartSeries{{"shop", "series-1", 1210}, {"Other keys", "series-others", 806}}, c.Series)
	require.Equal(t, int64(2016), c.Total)
	require.Equal(t, "30 Oct 2026: 2,000 points", c.Days[2].Label)
	require.Equal(t, []chartBar{{"315.0", "80.0", "120.0", "120.0", "series-1"},
		{"315.0", "0.0", "120.0", "80.0", "series-others"}}, c.Days[2].Parts)
	require.Empty(t, c.Days[1].Parts)
	require.Equal(t, "2", NewChart([]string{"shop"}, false, first, [][]int64{{0}}).Top, "nothing")
}

// A number that is not limited is null in JSON.
func TestPointsAsJSON(t *testing.T) {
	for account, want := range map[book.Account]string{
		{Used: 400, Points: 1000, Rate: 1}: `{"used":400,"limit":1000,"left":600,"percent":40,"overage":false,"rate":1,`,
		{Used: 7, Points: book.Unlimited, Rate: book.Unlimited, Overage: true}: `{"used":7,"limit":null,"left":null,` +
			`"percent":0,"overage":true,"rate":null,`,
	} {
		text, err := json.Marshal(viewOfPoints(account))
		require.NoError(t, err)
		require.JSONEq(t, want+`"refill":"0001-01-01T00:00:00Z","in_progress":0}`, string(text))
	}
}

// Each action that the origin's packages record in the audit log has its sentence, and no other has.
func TestAuditSentencesAreComplete(t *testing.T) {
	actions := map[string]string{} // from the source, with the file
	literal := regexp.MustCompile(`"([a-z-]+\.[a-z-]+)"`)
	for _, dir := range []string{"../../ledger/book", "../../identity", "../../webhook"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, path := range files {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, found := range literal.FindAllStringSubmatch(string(text), -1) {
				if !strings.HasSuffix(path, "_test.go") {
					actions[found[1]] = path
				}
			}
		}
	}
	delete(actions, "usage.threshold") // a message of webhooks
	require.Greater(t, len(actions), 25)
	for action, path := range actions {
		require.Contains(t, auditSentences, action, "recorded in %s", path)
	}
	for action := range auditSentences {
		require.Contains(t, actions, action, "nothing records it")
	}
	for line, want := range map[[2]string]string{
		{"key.create", "5 <b>shop</b> %d"}:                          "The key “<b>shop</b> %d” was created.",
		{"key.rename", "5 store (was shop)"}:                        "A key was renamed: store (was shop).",
		{"account.create", "plan pro, points 100000"}:               "The account was created: plan pro, points 100000.",
		{"session.sign-in", "Chrome on Linux"}:                      "A browser signed in: Chrome on Linux.",
		{"webhook.disable", "the receiver responded with HTTP 410"}: "The webhook was disabled: the receiver responded with HTTP 410.",
		{"account.suspend", ""}:                                     "The account was suspended.",
		{"moon.land", "1969"}:                                       "moon.land 1969",
	} {
		require.Equal(t, want, ViewOfAudit(book.AuditLine{Action: line[0], Subject: line[1]}).Sentence)
	}
	require.Equal(t, "command line", AuditView{AuditLine: book.AuditLine{Actor: book.Shell}}.Who())
}

// Whatever a document is and wherever its flaw is, a few lines of bounded length show it.
func FuzzFlawOf(f *testing.F) {
	f.Add(`{"block": {"reasons": ["disposible"]}}`, 50, "block.reasons[1]", "x")
	f.Add("\xff\r\n", -1, "line 1, column 1", "x")
	f.Add(strings.Repeat("ä", 500), 1<<30, "the document", "it has more than x")
	f.Fuzz(func(t *testing.T, document string, offset int, place, problem string) {
		refused := &host.PolicyError{Place: place, Offset: offset, Sentence: place + ": " + problem}
		flaw := flawOf(document, refused)
		require.LessOrEqual(t, len(flaw.Lines), 5)
		for _, line := range flaw.Lines {
			require.LessOrEqual(t, len(line.Text), 8*flawWidth+2*len("…"))
			require.NotContains(t, line.Text, "\n")
		}
		_, err := json.Marshal(flaw)
		require.NoError(t, err)
	})
}

func TestPastedAddresses(t *testing.T) {
	for text, want := range map[string][]string{
		"a@b\r\nc@d\n\n a@b \n": {"a@b", "c@d"},
		"a@b, c@d;e@f":          {"a@b", "c@d", "e@f"},
		`"last, first"@b`:       {`"last, first"@b`},
		"jane, doe@example.org": {"jane, doe@example.org"},
		"no address":            {"no address"},
	} {
		got, err := pastedAddresses([]string{text})
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", " \r\n ", ",;,"} {
		_, err := pastedAddresses([]string{text})
		require.EqualError(t, err, "Give at least one address.", text)
	}
}
