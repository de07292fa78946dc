package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/account"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

func TestTryOneAddress(t *testing.T) {
	eachAPISite(t, func(t *testing.T, s *apiSite) {
		account, b := s.accountOn(t, "try@example.com", book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(3)})
		require.Contains(t, b.get("/dashboard/try").body, "This costs 1 point for each; you have <strong>3</strong> left this month.")
		got := expect(t, http.StatusOK, b.submit("/dashboard/try",
			url.Values{"emails": {"Jane.Doe+news@hotmial.com"}}), "This cost 1 point.", "Probably mistyped",
			"hotmial.com looks like a misspelling of hotmail.com.",
			"Its normal form is jane.doe&#43;news@hotmial.com.",
			"/v1/email/Jane.Doe&#43;news@hotmial.com?details=true&#39;</pre>", `>Jane.Doe&#43;news@hotmial.com</textarea>`)
		require.NotContains(t, got.body, "ask_", "no secret")

		got = b.submit("/dashboard/try", url.Values{"emails": {"Jane.Doe+news@hotmial.com"}, "use": {"hotmial.com hotmail.com"}})
		require.Contains(t, got.body, `>Jane.Doe&#43;news@hotmail.com</textarea>`)
		require.NotContains(t, got.body, "This cost 1 point")

		expect(t, http.StatusOK, b.submit("/dashboard/try", url.Values{"emails": {"jane.@example.org"}}),
			"Not a valid address", "The local part ends with a dot", "This cost nothing")
		require.Equal(t, int64(1), s.used(t, account))
	})
}

func TestTrySeveralAddresses(t *testing.T) {
	s := newAPISite(t, "sqlite:"+t.TempDir()+"/a.db")
	owner, b := s.accountOn(t, "try@example.com", book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(10)})
	got := expect(t, http.StatusOK, b.submit("/dashboard/try",
		url.Values{"emails": {"support@example.org\r\n\r\n jane.@example.org \nx@mailinator.com, support@example.org\njane@silent.test\nme@nomx.test"}}),
		"5 results", "This cost 5 points.", "Reaches a role, not one person", "Not a valid address", "The local part ends with a dot",
		"Throw-away mailbox", "Could not be checked", "DNS lookup timed out for domain silent.test", "No MX record", `&#39;{&#34;emails&#34;:[`)
	require.NotContains(t, got.body, "Show the reason")
	require.Equal(t, int64(5), s.used(t, owner))
	expect(t, http.StatusPaymentRequired, b.submit("/dashboard/try",
		url.Values{"emails": {"a@example.org\nb@example.org\nc@example.org\nd@example.org\ne@example.org\nf@example.org"}}),
		"This costs 6 points, and you have 5 left this month. The points refill on 1 ",
		">a@example.org\nb@example.org") // the form keeps what was pasted

	var view account.TryView
	require.Equal(t, http.StatusOK, b.postJSON("/dashboard/try", map[string]any{"emails": []string{"info@example.org", "jane@hotmial.com"}}, &view).status)
	require.Len(t, view.Checked, 2)
	require.Equal(t, "jane@hotmail.com", view.Checked[1].Fix)
	require.Equal(t, int64(3), *view.Points.Left)
	expect(t, http.StatusPaymentRequired, b.postJSON("/dashboard/try",
		map[string]any{"emails": "a@example.org\nb@example.org\nc@example.org\nd@example.org"}, new(any)),
		`"code":"INSUFFICIENT_USAGE"`)
}

// One address is checked with its details: the evidence is beside each field.
func TestTryShowsDetails(t *testing.T) {
	s := newAPISite(t, "sqlite:"+t.TempDir()+"/a.db")
	_, b := s.accountOn(t, "try@example.com", noLimits)
	for email, want := range map[string][]string{
		"no.reply+x@gmail.com": {"The word is &#34;noreply&#34;.", "The entry is gmail.com, from addrspec/public.txt", "by the rule &#34;gmail&#34; of its provider."},
		"jane@burner.test": {"burner.test has no entry with proof, but each of its mail servers belongs to a service of throw-away mailboxes.",
			`<div class="tone-bad"><dt><code>exchange</code></dt><dd>Mail goes to mail.mailinator.com, a service of throw-away mailboxes. The entry is mailinator.com.</dd>`},
		"jane@nomx.test":  {`<div class="tone-warn"><dt><code>exchange</code></dt><dd>No address record takes mail for the domain.</dd>`},
		`"a b"@localhost`: {"Unusual: the part before the @ is in quotation marks; the domain has no dot; "},
	} {
		expect(t, http.StatusOK, b.submit("/dashboard/try", url.Values{"emails": {email}}), want...)
	}
}

func TestTryWithoutPoints(t *testing.T) {
	s := newAPISite(t, "sqlite:"+t.TempDir()+"/a.db")
	_, b := s.accountOn(t, "try@example.com", book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(0)})
	expect(t, http.StatusTooManyRequests, b.submit("/dashboard/try", url.Values{"emails": {"jane@example.org"}}),
		"The points of this month are used up. They refill on 1 ")
}

// 64 of the longest verdicts fit a page of 100 KB; 65 addresses are refused, at no
// cost.
func TestTryFullBatch(t *testing.T) {
	s := newAPISite(t, "sqlite:"+t.TempDir()+"/a.db")
	account, b := s.accountOn(t, "try@example.com", noLimits)
	list := make([]string, 65)
	for i := range list {
		list[i] = fmt.Sprintf("xkqjzvwpt%02d@mailinator.com", i)
	}
	expect(t, http.StatusUnprocessableEntity, b.submit("/dashboard/try", url.Values{"emails": {strings.Join(list,
		"\n")}}), "These are 65 different addresses; at most 64 fit here. For more, use Lists.")
	require.Zero(t, s.used(t, account))
	got := expect(t, http.StatusOK, b.submit("/dashboard/try", url.Values{"emails": {strings.Join(list[1:], "\n")}}))
	require.Less(t, len(got.body), 100<<10)
	require.Equal(t, int64(64), s.used(t, account))
}

// asPasted matches the places that keep a text as it was pasted: the form's field,
// a button's value and the API's response.
var asPasted = regexp.MustCompile(`(?s)<textarea.*?</textarea>|value="[^"]*"|<pre.*?</pre>`)

// What people paste cannot become markup or a part of the shell's command.
func TestTryHostileAddresses(t *testing.T) {
	s := newAPISite(t, "sqlite:"+t.TempDir()+"/a.db")
	_, b := s.accountOn(t, "try@example.com", noLimits)
	for _, email := range []string{`"<script>alert(1)</script>"@example.org`, "o'brien';id;'@example.org", "\u202egro@example.org", "\x1b[31mred@example.org", strings.Repeat("x", 60_000) + "@example.org", "a@b/../../v1/usage?x=1#y", "%zz@example.org"} {
		for _, emails := range []string{email, email + "\njane@example.org"} {
			got := b.submit("/dashboard/try", url.Values{"emails": {emails}})
			require.Equal(t, http.StatusOK, got.status, email)
			require.NotContains(t, got.body, "<script>")
			shown := asPasted.ReplaceAllString(got.body, "")
			require.NotContains(t, shown, "\x1b")
			require.NotContains(t, shown, "\u202e")
			require.NotRegexp(t, `curl[^<]*&#39;[^<]*&#39;;id`, got.body)
		}
	}
	require.Equal(t, http.StatusRequestEntityTooLarge, b.submit("/dashboard/try", url.Values{"emails": {strings.Repeat("x", maxForm)}}).status)
}
