package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// newTestOffice returns an office with a test key in place of its own.
func newTestOffice(t testing.TB, policies map[string]string) *office {
	o := newOffice(t, policies)
	o.key = testKeyOf(t, o.ledger, o.account)
	return o
}

func testKeyOf(t testing.TB, l *ledger.Ledger, account int64) (secret string) {
	secret, _, err := l.CreateTestKey(t.Context(), account, "test", book.KeyTerms{})
	require.NoError(t, err)
	return secret
}

// The table has no member that a result does not have, each row once, and only failures that
// the code knows.
func TestTableOfTestKeys(t *testing.T) {
	strict := func(text []byte, into any) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(into), "%s", text)
	}
	var table testTable
	strict(testKeysJSON, &table)
	var ordinary testResult
	strict(table.Ordinary, &ordinary)
	locals, failures := map[string]bool{}, map[string]bool{failRate: true, failPoints: true, failService: true, failTimeout: true, failLookup: true, failUnfinished: true}
	for _, row := range table.Rows {
		require.False(t, locals[row.Local], row.Local)
		require.NotContains(t, row.Local, "+", "a tag is no part of it")
		require.Equal(t, strings.ToLower(row.Local), row.Local)
		locals[row.Local] = true
		if row.Failure != "" {
			require.True(t, failures[row.Failure], row.Local)
			require.Empty(t, row.Result, row.Local)
			delete(failures, row.Failure)
			continue
		}
		strict(row.Result, new(testResult))
	}
	require.Empty(t, failures)
}

// The table has every fact, each role and each unusual form.
func TestTableHasEveryFact(t *testing.T) {
	o := newTestOffice(t, nil)
	var seen host.Fact
	roles, forms := map[string]bool{}, map[string]bool{}
	for _, row := range testTableOf().Rows {
		w := o.send("/v1/email/"+row.Local+"+x@addrspec.test?details=true", "")
		if w.Code != http.StatusOK {
			require.True(t, row.Failure != "" || row.Local == "invalid", row.Local)
			continue
		}
		r, err := result.Parse(w.Body.Bytes())
		require.NoError(t, err)
		seen |= r.Subject(testDomain).Facts.Set
		roles[r.Role] = true
		for _, form := range r.Details.Form {
			forms[form] = true
		}
	}
	require.Equal(t, host.Valid|host.Alias|host.ASCII|host.HasRole|host.Gibberish|host.Disposable|host.Public|host.Relay|host.Typo, seen)
	require.Len(t, roles, 11, "each category, and none")
	require.Len(t, forms, 6)
	require.NotContains(t, o.trace.list(), "ask "+testDomain, "nothing is looked up")
	require.Empty(t, o.trace.list())
}

// With --typo-suggestion address the suggestion of the table is an address, too.
func TestTestKeySuggestsTheAddress(t *testing.T) {
	o := newTestOffice(t, nil)
	o.Flags = host.FullSuggestion
	require.Contains(t, o.send("/v1/email/Typo+1@addrspec.test", "").Body.String(), `"typo_suggestion":"Typo+1@example.com"`)
	require.Contains(t, o.send("/v1/email/%22typo%22@addrspec.test", "").Body.String(), `"typo_suggestion":"\"typo\"@example.com"`)
	require.Contains(t, o.send("/v1/email/jane@addrspec.test", "").Body.String(), `"typo_suggestion":null`)
}

// Nothing of any request with a test key is in the database, whatever it gets.
func TestTestKeysLeaveNoRows(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		l := ledgertest.Open(t, url)
		o := &office{fakes: newFakes(t), t: t, ledger: l}
		real, account := ledgertest.NewAccountOn(t, l, "owner@example.com", book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(1)})
		o.key, o.account, o.Ledger = testKeyOf(t, l, account), account, FromLedger(l)
		sent := 0
		for _, row := range testTableOf().Rows {
			email := row.Local + "@addrspec.test"
			for _, w := range []*httptest.ResponseRecorder{o.send("/v1/email/"+email, ""), o.send("/v1/emails", `{"emails":["`+email+`","jane@addrspec.test"]}`)} {
				require.Equal(t, "0", w.Header().Get("X-Usage-Current"))
				sent++
			}
		}
		require.Greater(t, sent, 50)
		o.key = real
		require.Equal(t, http.StatusOK, o.send("/v1/email/jane@mail.example", "").Code, "the point is left")
		days, err := l.UsageHistory(t.Context(), account, 0, 1_000_000)
		require.NoError(t, err)
		require.Len(t, days, 1)
		require.EqualValues(t, 1, days[0].Requests)
		require.EqualValues(t, 1, days[0].Points)
		require.EqualValues(t, 1, ledgertest.Used(t, l, "owner@example.com"))
	})
}

// A test key gets no fact about another domain, and no response but those of the contract,
// whatever is sent. The same request gets the same bytes.
func FuzzTestKey(f *testing.F) {
	for _, row := range testTableOf().Rows {
		f.Add(row.Local+"@addrspec.test", true)
	}
	for _, email := range []string{"", "@", "a@b", "a+@AddrSpec.Test", "(c)relay@addrspec.test", `"a@b"@addrspec.test`, "typo@addrspec.test.", "ü@addrspec.test", "a@[127.0.0.1]", "\xff@addrspec.test", `","mx":@addrspec.test`, `",\"mx\":"@addrspec.test`} {
		f.Add(email, false)
	}
	o := newTestOffice(f, map[string]string{"strict": `{"block": {"reasons": ["disposable", "no_mail", "role"]}}`})
	f.Fuzz(func(t *testing.T, email string, details bool) {
		query := ""
		if details {
			query = "?details=true"
		}
		w, again := o.send("/v1/email/"+url.PathEscape(email)+query, ""), o.send("/v1/email/"+url.PathEscape(email)+query, "")
		if slices.Contains([]int{w.Code, again.Code}, http.StatusTooManyRequests) { // fuzzing is too fast
			return
		}
		require.Equal(t, w.Body.String(), again.Body.String())
		if w.Code != http.StatusOK {
			require.Contains(t, []int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusServiceUnavailable}, w.Code, w.Body)
			return
		}
		text := w.Body.Bytes()
		r, err := result.Parse(text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, details, r.Details != nil)
		if r.Valid {
			require.Equal(t, testDomain, strings.ToLower(r.Domain))
		}
	})
}
