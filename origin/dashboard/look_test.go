package dashboard

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

// notText matches what people do not read as sentences: markup, code, and the
// numbers of an input.
var notText = regexp.MustCompile(`(?s)<script.*?</script>|<pre.*?</pre>|<code.*?</code>|<[^>]*>`)

// text returns the words of a page, and those of its labels.
func (r reply) text() string {
	labels := regexp.MustCompile(`(?:aria-label|placeholder)="([^"]*)"`).FindAllStringSubmatch(r.body, -1)
	words := notText.ReplaceAllString(strings.ReplaceAll(r.body, "</strong>", ""), " ")
	for _, label := range labels {
		words += " " + label[1]
	}
	return strings.Join(strings.Fields(html.UnescapeString(words)), " ")
}

var primary = regexp.MustCompile(`(?s)<(?:button|a class="button")(?: [^>]*)?>[^<]*`)

func primaryActions(page string) (list []string) {
	_, main, _ := strings.Cut(page, "<main")
	for _, button := range primary.FindAllString(main, -1) {
		tag, words, _ := strings.Cut(button, ">")
		if !regexp.MustCompile(`class="(?:button )?(?:second|plain)|type="button"`).MatchString(tag) {
			list = append(list, words)
		}
	}
	return list
}

// A noun after 1 is in the singular, on every page of an account that has one of each.
func TestOneOfEach(t *testing.T) {
	s := newAPISite(t, "sqlite:"+t.TempDir()+"/a.db")
	one := ledgertest.Limit(1)
	account, b := s.accountOn(t, "one@example.com", book.Terms{Rate: one, Points: one})
	_, k, err := s.Ledger.CreateKey(t.Context(), account, "only", book.KeyTerms{Budget: one, Rate: one})
	require.NoError(t, err)
	s.transact(t, "add_usage", account, k.ID, int64(s.today), 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	require.Contains(t, b.submit("/dashboard/try", url.Values{"emails": {"jane@example.org"}}).text(), "This cost 1 point.")
	operator := fmt.Sprintf("/dashboard/operator/accounts/%d", account)
	for path, want := range map[string]string{
		"/dashboard":                            "in 1 address, the last 30 days",
		"/dashboard/keys":                       "1 request in the last 30 days",
		fmt.Sprintf("/dashboard/keys/%d", k.ID): "0 of 1 point",
		"/dashboard/usage":                      "2 rows",
		"/dashboard/try":                        "1 point for each",
		operator:                                "1 request a second",
	} {
		who := b
		if path == operator {
			who = s.operator(t)
		}
		got := who.get(path).text()
		require.Contains(t, got, want, path)
		require.NotRegexp(t, `\b1 [a-z]*[^s\W]s\b`, got, path)
	}
}
