package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/account"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

func TestKeysOfAnAccount(t *testing.T) {
	eachOwner(t, func(t *testing.T, s *site, b *browser) {
		require.Contains(t, b.get("/dashboard/keys").body, "There are no keys yet")
		got := b.shown(b.submit("/dashboard/keys", url.Values{"name": {"<b>shop</b>"}}))
		require.Contains(t, got.body, "&lt;b&gt;shop&lt;/b&gt; is ready")
		require.NotContains(t, got.body, "<b>shop")
		var made account.KeysView
		require.Equal(t, http.StatusOK, b.postJSON("/dashboard/keys", map[string]string{"name": "by JSON"}, &made).status)
		require.Len(t, made.New.Secret, 42)
		var p page.Problem
		require.Equal(t, http.StatusUnprocessableEntity, b.postJSON("/dashboard/keys", map[string]string{"name": "\u202e"}, &p).status)
		require.Contains(t, p.Sentence, "The name of a key must have")
		require.Equal(t, "/dashboard/keys?done=key-revoked", b.submit("/dashboard/keys/1/revoke", url.Values{}).header.Get("Location"))
		require.Contains(t, b.get("/dashboard/keys?revoked=on").body, `<span class="tag revoked">`)
	})
}

// A test key is made by a switch, and shown as one wherever it is listed.
func TestTestKeysOfAnAccount(t *testing.T) {
	eachOwner(t, func(t *testing.T, s *site, b *browser) {
		badge := `<span class="tag test">test</span>`
		got := b.shown(b.submit("/dashboard/keys", url.Values{"name": {"suite"}, "test": {"on"}}))
		require.Contains(t, got.body, "/v1/email/disposable@addrspec.test", "the line to paste")
		b.createPolicy("strict", "{}")
		require.NotContains(t, expect(t, http.StatusOK, b.get("/dashboard/keys/1"), badge).body, `name="budget"`)
		change := url.Values{"name": {"suites"}, "expires": {""}, "origins": {""}, "policy": {"strict"}}
		require.Equal(t, http.StatusSeeOther, b.submit("/dashboard/keys/1", change).status)
		require.Contains(t, b.get(policiesPath).body, `<a href="/dashboard/keys/1">suites</a> `+badge)
		bad := url.Values{"name": {"x"}, "test": {"on"}, "budget": {"5"}}
		require.Equal(t, http.StatusUnprocessableEntity, b.submit("/dashboard/keys", bad).status)
		require.NotContains(t, b.shown(b.submit("/dashboard/keys", url.Values{"name": {"real"}})).body, "disposable@addrspec.test")
		list := b.get("/dashboard/keys").body
		require.Equal(t, 1, strings.Count(list, badge))
		require.Contains(t, list, "not recorded", "its last use")
		revoke := expect(t, http.StatusOK, b.get("/dashboard/keys/1/revoke"), badge)
		require.NotContains(t, revoke.body, "never used")
		expect(t, http.StatusOK, b.get("/dashboard/usage?key=1"), "suites (test)",
			"with this key. Requests with a test key are not counted.")
		require.NotContains(t, b.get("/dashboard/usage?key=2").body, "test key")
		operators := s.operator(t).get(fmt.Sprint("/dashboard/operator/accounts/", s.account.ID)).body
		require.Equal(t, 1, strings.Count(operators, badge))
	})
}

func TestChangeAndRotateAKey(t *testing.T) {
	eachOwner(t, func(t *testing.T, s *site, b *browser) {
		var made, rotated struct{ New account.NewKeyView }
		b.postJSON("/dashboard/keys", map[string]any{"name": "shop", "budget": 10, "expires": "90d"}, &made)
		path := "/dashboard/keys/" + strconv.FormatInt(made.New.ID, 10)

		got := b.submit(path, url.Values{"name": {"shop 2"}, "expires": {"2199-01-01"}, "budget": {""}, "rate": {"2"},
			"origins": {"https://shop.example\r\nhttps://www.shop.example:444/"}})
		require.Equal(t, path+"?done=key-changed", got.header.Get("Location"), got.body)
		b.postJSON(path, map[string]any{"name": "shop 3"}, new(any)) // what a program leaves out stays
		page := read[account.KeyPageView](b, path)
		two := book.Limit(2)
		require.Equal(t, "shop 3", page.Key.Name)
		require.Equal(t, book.KeyTerms{Expires: time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC), Rate: &two,
			Origins: []string{"https://shop.example", "https://www.shop.example:444"}}, page.Key.KeyTerms)
		for field, value := range map[string]string{"budget": "-1", "rate": "many", "expires": "tomorrow",
			"origins": "https://*.example", "name": ""} {
			expect(t, http.StatusUnprocessableEntity, b.submit(path, url.Values{field: {value}}), `role="alert"`)
		}

		require.Equal(t, http.StatusUnprocessableEntity, b.submit(path+"/rotate", url.Values{"grace": {"169h"}}).status)
		b.postJSON(path+"/rotate", map[string]string{"grace": "24h"}, &rotated)
		require.WithinDuration(t, time.Now().Add(24*time.Hour), rotated.New.Until, time.Hour) // real time: a day, give or take an hour
		require.NotEqual(t, made.New.Secret, rotated.New.Secret)
		require.Contains(t, b.get("/dashboard/keys").body, "two secrets")
		require.Contains(t, b.get(path).body, "Old secret")
		require.NoError(t, s.Ledger.RevokeKey(t.Context(), s.account.ID, made.New.ID))
		require.NotContains(t, b.get("/dashboard/keys?revoked=on").body, "two secrets", "no secret is valid")
		require.NotContains(t, b.get(path).body, "Old secret")

		stranger := s.signedIn(t, s.createAccount(t, "other@example.com").ID)
		for _, suffix := range []string{"", "/rotate", "/revoke"} {
			require.Equal(t, http.StatusNotFound, stranger.get(path+suffix).status)
			got, _ := stranger.post(path+suffix, `{"grace": "1h", "name": "mine"}`)
			require.Equal(t, http.StatusNotFound, got.status)
		}
	})
}

func TestPagesOfKeys(t *testing.T) {
	s, b := ownSite(t)
	for i := range keysOnPage + 3 {
		_, _, err := s.Ledger.CreateKey(t.Context(), s.account.ID, "key "+strconv.Itoa(i), book.KeyTerms{})
		require.NoError(t, err)
	}
	var first, second, found account.KeysView
	b.getJSON("/dashboard/keys", &first)
	require.Len(t, first.Keys, keysOnPage)
	require.Equal(t, "key 52", first.Keys[0].Name)
	b.getJSON("/dashboard/keys?after="+strconv.FormatInt(first.Next, 10), &second)
	require.Len(t, second.Keys, 3)
	require.Zero(t, second.Next)
	b.getJSON("/dashboard/keys?search=KEY+51", &found)
	require.Len(t, found.Keys, 1)
	require.Contains(t, b.get("/dashboard/keys?search=nothing").body, "No key has “nothing” in its name")
	require.Less(t, len(b.get("/dashboard/keys").body), 60<<10)
}
