package core

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

// repaired has addresses with the one that is meant.
var repaired = map[string]string{
	// what encloses it or precedes it
	"<jane@example.org>":                                 "jane@example.org",
	" < jane@example.org > ":                             "jane@example.org",
	"Jane Doe <Jane.Doe@Example.org>":                    "Jane.Doe@Example.org",
	`"Doe, Jane" <jane@example.org>,`:                    "jane@example.org",
	"Doe, Jane (work) <jane@example.org>":                "jane@example.org",
	"\U0001F469\u200D\U0001F680 Jane <jane@example.org>": "jane@example.org",
	"\uFEFFJane <jane@example.org>":                      "jane@example.org",
	"jane@example.org <jane@example.org>":                "jane@example.org",
	"jane@example.org<mailto:jane@example.org>":          "jane@example.org",
	"<jane@example.org":                                  "jane@example.org",
	"Jane <jane@example.org":                             "jane@example.org",
	"jane@example.org>":                                  "jane@example.org",
	"<jane@localhost>":                                   "jane@localhost",
	"mailto:jane@example.org":                            "jane@example.org",
	"MailTo: jane@example.org":                           "jane@example.org",
	"<mailto:jane@example.org>":                          "jane@example.org",
	`"jane@example.org"`:                                 "jane@example.org",
	`"jane@example.org`:                                  "jane@example.org",
	`jane@example.org"`:                                  "jane@example.org",
	"'jane@example.org'":                                 "jane@example.org",
	`"jane@example.org",`:                                "jane@example.org",
	"[jane@example.org],":                                "jane@example.org",
	"'jane@example.org',":                                "jane@example.org",
	"\u2019jane@example.org\u2019":                       "jane@example.org",
	"\u201Cjane@example.org\u201D":                       "jane@example.org",
	"jane@example.org\u201D":                             "jane@example.org",
	"\u201Cjane@example.org\u201D,":                      "jane@example.org",
	"\u00ABjane@example.org\u00BB":                       "jane@example.org",
	"[jane@example.org]":                                 "jane@example.org",
	"(jane@example.org)":                                 "jane@example.org",
	"jane@example.org)":                                  "jane@example.org",
	"*jane@example.org*":                                 "jane@example.org",
	"jane@example.org\n":                                 "jane@example.org",
	"\r\njane@example.org\r\n":                           "jane@example.org",
	// at its end
	"jane@example.org.":             "jane@example.org",
	"jane@example.org,":             "jane@example.org",
	"jane@example.org;":             "jane@example.org",
	"jane@example.org ,":            "jane@example.org",
	"jane@example.org..":            "jane@example.org",
	"jane@example.org. ":            "jane@example.org",
	"jane@example.org\u3002":        "jane@example.org",
	"jane@b\u00fccher.example.org.": "jane@b\u00fccher.example.org",
	// in the domain
	"jane@example,org":         "jane@example.org",
	"jane@example, org":        "jane@example.org",
	"jane@example;org":         "jane@example.org",
	"jane@example.co,uk":       "jane@example.co.uk",
	"jane@example,co,uk":       "jane@example.co.uk",
	"jane@example.COM,br":      "jane@example.COM.br",
	"jane@mail,test":           "jane@mail.test",
	"jane@example..org":        "jane@example.org",
	"jane@example...org":       "jane@example.org",
	"jane@mail..example.org":   "jane@mail.example.org",
	"jane@example .org":        "jane@example.org",
	"jane@example. org":        "jane@example.org",
	"jane@example . co . uk":   "jane@example.co.uk",
	"jane @ example\u00a0.org": "jane@example.org",
	"jane@example. ORG":        "jane@example.ORG",
	// the @
	"jane@@example.org":       "jane@example.org",
	"jane@@@example.org":      "jane@example.org",
	"jane\uFF20example.org":   "jane@example.org",
	"jane\uFE6Bexample.org":   "jane@example.org",
	`"jane doe"@@example.org`: `"jane doe"@example.org`,
	// invisible characters
	"jane\u200B@example.org":                     "jane@example.org",
	"\uFEFFjane@example.org":                     "jane@example.org",
	"\u202Ajane@example.org\u202C":               "jane@example.org",
	"ja\u00ADne@exam\u00ADple.org":               "jane@example.org",
	"jane\u200D@exam\u200Cple.org":               "jane@example.org",
	"\u0DC1\u0DCA\u200D\u0DBB\u200B@example.org": "\u0DC1\u0DCA\u200D\u0DBB@example.org",
	// a comment stays, since its letters are among the others
	"jane(work)@example..org": "jane(work)@example.org",
}

// notRepaired are addresses that more than one is meant by, or none.
var notRepaired = []string{
	"", " ", "jane", "jane.example.org", "jane at example.org", "jane@example.org",
	"jane@example.org, joe@example.org", "jane@example.org;joe@example.net", "<jane@example.org>, <joe@example.org>",
	"joe@example.org <jane@example.org>", "Jane <jane@example.org> Doe", "Jane <jane>@example.org", "<jane>", "<>", "<@>",
	"a<b@example.org", "a>b@example.org", "jane@exam<ple.org", "<mailto:>", "mailto:", "mailto:jane",
	"jane@example@org", "jane@example.org@example.org", "jane@example.org@@", "@@", "@jane@example.org", "jane@\uFF20example.org",
	"jane\uFF20example\uFF20org", "jane\uFF20world", "jane@@localhost", "\uFF4A\uFF41\uFF4E\uFF45\uFF20example.org",
	"jane..doe@example.org", ".jane@example.org", "jane.@example.org", "jane,doe@example.org", "jane doe@example.org",
	"jane@.example.org", "jane@", "jane@.", "jane@,", "jane@exam ple.org", "jane@example org", "jane@mail example.org",
	"jane@gmail.", "jane@gmail,", "jane@gmail,joe", "jane@example.org,joe", "jane@example.org,com", "jane@\u043F\u0440\u0438\u043C\u0435\u0440.\u0440\u0444,com", "jane@example.org..com",
	"jane@gmail.com,me", "jane@gmail.com..de", "jane@gmail.com, me", "jane@gmail.com.\u00a0me",
	"jane@example.org. Call me", "jane@example.org. Thanks", "jane@example.org. Call", "jane@example.org, Jane",
	"jane@my_host.example.org", "jane@-example.org", "jane@example.org?", "jane@example.org?subject=a", "jane@example.org(", "jane@[192.0.2.1",
	"jane@host.(none)", "1234567+example[bot]@users.noreply.github.com", "[jane@example.org](mailto:jane@example.org)",
	"\U0001F468\u200D\U0001F469@example.org", "\u0639\u0644\u06CC\u200D\u0631\u0636\u0627@example.org", "\u202Egro.elpmaxe@enaj",
	"ja\u3164ne@example.org", "jane\x00@example.org", "jane\xff@example.org", "<ja\uFFFDne@example.org>", `"'jane@example.org`, "\u201Cjane@example.org.",
	"\U0001F3F4\U000E0067\U000E007F@example.org", "l\u00B7a@l\u00B7a.org", "jane@example.org\nJoe", strings.Repeat("<", 5000),
	strings.Repeat("a", 65) + "@example.org.", "<" + strings.Repeat("a", 65) + "@example.org>", strings.Repeat("\u200B", 20) + "jane@example.org",
}

func TestRepair(t *testing.T) {
	c := New(lists.Default())
	for email, want := range repaired {
		assert.Equal(t, want, repairOf(t, c, email), "%+q", email)
	}
	for _, email := range notRepaired {
		assert.Empty(t, repairOf(t, c, email), "%+q", email)
	}
	require.Equal(t, "jane@example.org", *detailsOf(t, c, "jane@example.org,").Refusal.Suggestion)
	require.Nil(t, detailsOf(t, c, "jane").Refusal.Suggestion)
}

// repairOf returns the repair of email. It requires it to be valid, without a repair of its
// own, and to have letters and digits of one run of the input's.
func repairOf(t testing.TB, c *Checker, email string) string {
	f := c.Check([]byte(email))
	why := f.Refusal.Reason
	repaired := string(c.Repair(&f))
	require.Equal(t, why, f.Refusal.Reason)
	if repaired == "" {
		return ""
	}
	g := c.Check([]byte(repaired))
	require.False(t, f.Valid, "%+q", email)
	require.True(t, g.Valid, "%+q becomes %+q", email, repaired)
	require.Nil(t, c.Repair(&g))
	require.Contains(t, lettersOf(email), lettersOf(repaired), "%+q becomes %+q", email, repaired)
	return repaired
}

func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

func FuzzRepair(f *testing.F) {
	addSeeds(f)
	for email := range repaired {
		f.Add([]byte(email))
	}
	for _, email := range notRepaired {
		f.Add([]byte(email))
	}
	c := New(lists.Default())
	f.Fuzz(func(t *testing.T, email []byte) {
		own := slices.Clone(email)
		repairOf(t, c, string(email))
		facts := c.Check(email)
		c.Repair(&facts)
		require.Equal(t, own, email, "the input is not written to")
	})
}

func TestRepairAllocatesNothing(t *testing.T) {
	c := New(lists.Default())
	for email := range repaired {
		given := []byte(email)
		f := c.Check(given)
		require.Zero(t, testing.AllocsPerRun(10, func() { c.Repair(&f) }), "%+q", email)
	}
}
