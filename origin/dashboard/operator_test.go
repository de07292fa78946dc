package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/operator"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

func (s *site) operator(t *testing.T) *browser {
	a := s.createAccount(t, "operator@example.com")
	require.NoError(t, s.Identity.SetOperator(t.Context(), a.ID, true))
	return s.signedIn(t, a.ID)
}

// The overview sums the usage of all accounts, at most once a minute.
func TestOperatorOverview(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		o, other := s.operator(t), s.createAccount(t, "other@example.com").ID
		for _, account := range []int64{s.account.ID, other} {
			key := s.key(t, account, "shop")
			for _, ago := range []book.Day{0, 29, 30} {
				s.use(t, account, key, s.today-ago, 100*account)
			}
			s.exec(t, "UPDATE accounts SET month = $1, used = $2 WHERE id = $3", int64(book.MonthOf(s.today.Time())), 1000*account, account)
		}
		view := read[operator.Overview](o, operatorPath)
		of := 100 * (s.account.ID + other)
		require.Equal(t, []int64{of, of, 2 * of}, []int64{view.Chart.Days[0].Total, view.Chart.Days[29].Total, view.Chart.Total})
		require.Equal(t, operator.DayErrors{Day: s.today.String(), Requests: of + 2, Errors: 2}, view.Days[1])
		require.Equal(t, []int64{other, s.account.ID}, []int64{view.Top[0].ID, view.Top[1].ID})
		require.Equal(t, operator.StatusCount{Status: 409, Why: "conflict", Count: 2}, view.Refused[1])

		s.use(t, other, 2, s.today, 5)
		s.work.Take()
		page := o.get(operatorPath)
		require.Zero(t, s.work.Take().Statements["sum_usage_of_all"])
		require.Contains(t, page.body, fmt.Sprintf(`<a href="/dashboard/operator/accounts/%d">other@example.com</a>`, other))
		require.Contains(t, page.text(), "401 no key, or a key that is not valid 1,200 409 conflict 2 429 too many requests")
		require.Contains(t, page.text(), fmt.Sprintf("4 of %s requests with a good key got no result.", humanize.Comma(2*of+4)))
	})
}

func TestOperatorManagesAccounts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		o := s.operator(t)
		got := expect(t, http.StatusSeeOther, o.submit(accountsPath, url.Values{"email": {"new@example.com"},
			"plan": {"free"}}))
		path, _, _ := strings.Cut(got.header.Get("Location"), "?")
		expect(t, http.StatusUnprocessableEntity, o.submit(accountsPath, url.Values{"email": {"new@example.com"},
			"plan": {"free"}}), "exists already")

		list := read[operator.AccountsView](o, accountsPath+"?search=NEW@")
		require.Len(t, list.Accounts, 1)
		require.Contains(t, o.get(accountsPath+"?search=%3Cb%3E").body, "No account has “&lt;b&gt;”")

		var page operator.AccountView
		o.submit(path, url.Values{"do": {"terms"}, "plan": {"pro"}, "points": {"5000"}, "rate": {""}, "overage": {"no"}})
		o.getJSON(path, &page)
		require.Equal(t, "pro", page.Account.Plan)
		require.EqualValues(t, 5000, page.Account.Points)
		require.EqualValues(t, 5, page.Account.Rate, "the plan's")
		require.Equal(t, operator.OwnTerms{Points: "5000", Overage: "no"}, page.Own)
		for _, bad := range []url.Values{{"plan": {"none"}}, {"plan": {"pro"}, "overage": {"maybe"}}, {"plan": {"pro"}, "points": {"many"}}} {
			bad.Set("do", "terms")
			require.Equal(t, http.StatusUnprocessableEntity, o.submit(path, bad).status, bad)
		}

		for _, do := range []string{"suspend", "resume"} {
			o.submit(path, url.Values{"do": {do}})
			require.Equal(t, do == "suspend", !read[operator.AccountView](o, path).Account.Suspended.IsZero())
		}
		require.Equal(t, http.StatusUnprocessableEntity, o.submit(path, url.Values{"do": {"explode"}}).status)

		o.postJSON(path, map[string]string{"do": "link"}, &page)
		require.Contains(t, page.Link, s.url+"/link/")
		o.getJSON(path, &page)
		require.Equal(t, "link.create", page.Log[0].Action)
		require.Equal(t, book.Operator, page.Log[0].Actor)
		require.Equal(t, http.StatusNotFound, o.get("/dashboard/operator/accounts/999").status)
		a := must(s.Ledger.AccountByEmail(t.Context(), "operator@example.com"))(t)
		expect(t, http.StatusUnprocessableEntity, o.submit(fmt.Sprint(accountsPath, "/", a.ID), url.Values{"do": {"suspend"}}),
			"You cannot suspend your own account.")
	})
}

func TestOperatorPlans(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		o := s.operator(t)
		got := o.submit("/dashboard/operator/plans", url.Values{"name": {"team"}, "rate": {"20"}, "points": {"unlimited"}})
		require.Equal(t, "/dashboard/operator/plans?done=plan-stored", got.header.Get("Location"), got.body)
		require.Contains(t, o.get("/dashboard/operator/plans").body, "<td>team</td>")
		for given, want := range map[string]string{"": "256 MiB", "1.5GiB": "1.5 GiB", "512 MiB": "512 MiB", "1048576": "1.0 MiB", "0": "0 B"} {
			o.submit("/dashboard/operator/plans", url.Values{"name": {"sized"}, "rate": {"1"}, "points": {"1"}, "stored": {given}})
			require.Contains(t, o.get("/dashboard/operator/plans").text(), "sized 1 1 no "+want+" ", given)
		}
		for bad, want := range map[string]string{"-1": "such as 256 MiB.", "many": "such as 256 MiB.", "1e99": "such as 256 MiB.", "9EiB": "such as 256 MiB.", "2TiB": "outside 0 to 1.0 TiB."} {
			got := o.submit("/dashboard/operator/plans", url.Values{"name": {"sized"}, "rate": {"1"}, "points": {"1"}, "stored": {bad}})
			require.Equal(t, http.StatusUnprocessableEntity, got.status, bad)
			require.Contains(t, got.text(), want, bad)
		}
		for _, bad := range []url.Values{{"name": {"x"}, "rate": {"20"}}, {"name": {"x"}, "rate": {"0"}, "points": {"1"}}, {"name": {"\x1b[31m"}, "rate": {"1"}, "points": {"1"}}} {
			require.Equal(t, http.StatusUnprocessableEntity, o.submit("/dashboard/operator/plans", bad).status, bad)
		}
		require.Contains(t, o.get("/dashboard/operator/health").body, "responds")
	})
}
