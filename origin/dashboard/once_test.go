package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/account"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/dashboard/person"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

// A secret is shown once, by the page after the redirect, on any replica; loading
// that page again makes none. It is in no address, and its cookie is encrypted.
func TestSecretsAreShownOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		require.NoError(t, s.setOperator(t))
		b := s.signedIn(t, s.account.ID)
		key := s.key(t, s.account.ID, "to rotate")
		app := read[person.TOTPView](b, "/dashboard/settings/totp")
		factor := code(t, app.Secret, 0)
		factor.Set("secret", app.Secret)
		const hook = "/dashboard/settings/webhook"
		for _, f := range []struct {
			name, path string
			form       url.Values
			begins     string
		}{
			{"key", "/dashboard/keys", url.Values{"name": {"shop"}}, `id="secret">ask_`},
			{"rotated key", fmt.Sprintf("/dashboard/keys/%d/rotate", key), url.Values{"grace": {"1h"}}, `id="secret">ask_`},
			{"webhook", hook, url.Values{"do": {"set"}, "url": {"https://hooks.example.com/"}}, `id="secret">whsec_`},
			{"its rotation", hook, url.Values{"do": {"rotate"}}, `id="secret">whsec_`},
			{"authenticator", "/dashboard/settings/totp", factor, `<pre id="codes">`},
			{"codes", recoveryPath, url.Values{}, `<pre id="codes">`},
			{"link", fmt.Sprint(accountsPath, "/", s.account.ID), url.Values{"do": {"link"}}, `id="secret">` + s.url + "/link/"},
		} {
			name := f.name
			got := b.submit(f.path, f.form)
			require.Equal(t, http.StatusSeeOther, got.status, "%s: %s", name, got.body)
			require.Equal(t, "no-store", got.header.Get("Cache-Control"))
			cookie, to := onceCookieOf(t, got), got.header.Get("Location")
			require.True(t, cookie.HttpOnly)
			require.LessOrEqual(t, cookie.MaxAge, 300)
			require.NotZero(t, cookie.MaxAge)
			b.do(b.request("HEAD", to, nil)) // shows nothing

			page := b.get(to)
			require.Contains(t, page.body, f.begins, name)
			require.Equal(t, "no-store", page.header.Get("Cache-Control"))
			_, rest, _ := strings.Cut(page.body, f.begins)
			secret, _, _ := strings.Cut(rest, "<")
			require.GreaterOrEqual(t, len(secret), 16)
			require.NotContains(t, to+cookie.Value+cookie.Name, secret[:16], name)
			require.NotContains(t, b.get(to).body, f.begins, "loaded again: %s", name)
		}
		list := read[account.KeysView](b, "/dashboard/keys")
		require.Len(t, list.Keys, 2, "one was made")
	})
}

func (s *site) setOperator(t *testing.T) error {
	must(s.Identity.CreateLink(t.Context(), s.account.ID))(t)
	return s.Identity.SetOperator(t.Context(), s.account.ID, true)
}

func onceCookieOf(t *testing.T, got reply) *http.Cookie {
	response := http.Response{Header: got.header}
	all := response.Cookies()
	i := slices.IndexFunc(all, func(c *http.Cookie) bool { return strings.HasPrefix(c.Name, onceCookie) })
	require.GreaterOrEqual(t, i, 0, got.header)
	return all[i]
}

// Another replica shows the secret; another session, even of the same account, and
// another page do not.
func TestWhoIsShownASecret(t *testing.T) {
	database := "sqlite:" + t.TempDir() + "/a.db"
	s := newSite(t, database, page.Config{})
	b, other := s.signedIn(t, s.account.ID), s.signedIn(t, s.account.ID)
	got := b.submit("/dashboard/keys", url.Values{"name": {"shop"}})
	cookie, to := onceCookieOf(t, got), got.header.Get("Location")
	at := must(url.Parse(s.url))(t)
	other.client.Jar.SetCookies(at, []*http.Cookie{cookie})
	require.NotContains(t, other.get(to).body, `id="secret"`, "another session")
	require.NotContains(t, b.get("/dashboard/keys").body, `id="secret"`, "another page")
	require.NotContains(t, b.get(to+"&x=1").body, `id="secret"`, "another address")

	b.site = startSite(t, database, page.Config{}) // cookies have no port
	require.Contains(t, b.get(to).body, `id="secret">ask_`)

	first, second := b.submit("/dashboard/keys", url.Values{"name": {"first"}}), b.submit("/dashboard/keys", url.Values{"name": {"second"}})
	require.Contains(t, b.shown(first).body, "first is ready")
	require.Contains(t, b.shown(second).body, "second is ready", "of two windows")
}

// Loading the page again after a test message sends none.
func TestTestIsSentOnce(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	const path = "/dashboard/settings/webhook"
	b := s.signedIn(t, s.account.ID)
	b.submit(path, url.Values{"do": {"set"}, "url": {"https://nowhere.example.com/"}})
	page := b.submit(path, url.Values{"do": {"test"}})
	require.Contains(t, b.shown(page).body, "The test message: failed")
	require.Contains(t, b.shown(page).body, "The test message: failed")
	require.NotContains(t, b.get(path+"?test=msg_x").body, "The test message")
	var view account.WebhookView
	program := s.signedIn(t, s.createAccount(t, "program@example.com").ID)
	program.submit(path, url.Values{"do": {"set"}, "url": {"https://nowhere.example.com/"}})
	require.Equal(t, http.StatusOK, program.postJSON(path, map[string]string{"do": "test"}, &view).status)
	require.NotNil(t, view.Test, "a program gets it in the response")
}

// Every form whose input is refused comes back with what was entered, but for secrets and what the form sets itself.
func TestFormsKeepWhatWasEntered(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{SignUp: true, PublicURL: &url.URL{Scheme: "http", Host: "localhost"}})
	require.NoError(t, s.setOperator(t))
	_, key, err := s.Ledger.CreateKey(t.Context(), s.account.ID, "shop", book.KeyTerms{Origins: []string{"https://stored.example"}})
	require.NoError(t, err)
	stored := must(s.Ledger.SetPolicy(t.Context(), s.account.ID, "sign-up", "{}"))(t)
	s.withPassword(t)
	b, stranger := s.signedIn(t, s.account.ID), s.browser(t)
	keyPath, account := fmt.Sprintf("/dashboard/keys/%d", key.ID), fmt.Sprintf("/dashboard/operator/accounts/%d", s.account.ID)
	policyPath := policiesPath + "/sign-up"
	terms := func(more url.Values) url.Values {
		more["name"], more["expires"], more["origins"] = []string{"new name"}, []string{"2199-01-01"}, []string{"https://a.example\nhttps://b.example"}
		return more
	}
	many := ""
	for n := range maxBatch + 1 {
		many += fmt.Sprintf("a%d@example.org\n", n)
	}
	forms := map[string]url.Values{
		"/dashboard/keys":              terms(url.Values{"budget": {"10"}, "rate": {"many"}}),
		keyPath:                        terms(url.Values{"budget": {""}, "rate": {"many"}}),
		policiesPath:                   {"name": {"Sign up"}},
		policyPath:                     {"document": {disposible}, "version": {fmt.Sprint(stored.Version)}, "email": {"jane@example.org"}, "lookup": {"mx"}},
		"/dashboard/settings/webhook":  {"do": {"set"}, "url": {"http://hooks.example.com/"}},
		accountsPath:                   {"email": {"nobody"}, "plan": {"pro"}},
		account:                        {"do": {"terms"}, "plan": {"enterprise"}, "points": {"10"}, "rate": {"many"}, "overage": {"no"}},
		"/dashboard/operator/plans":    {"name": {"team"}, "rate": {"5"}, "points": {"many"}, "stored": {"7"}, "overage": {"on"}},
		"/dashboard/settings/name":     {"name": {strings.Repeat("x", 101)}},
		"/dashboard/settings/passkeys": {"name": {"phone"}, "state": {"x"}},
		"/dashboard/settings/totp":     {"secret": {"GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"}, "code": {"000000"}},
		"/dashboard/settings/delete":   {"email": {"other@example.com"}},
		"/dashboard/settings/password": {"password": {password}, "again": {"another"}},
		"/dashboard/try":               {"emails": {strings.Repeat("a@example.org\n", 2) + many}},
		"/confirm":                     {"password": {"wrong"}, "to": {"/dashboard/keys"}},
		"/sign-in":                     {"email": {"x@example.com"}, "password": {"wrong"}, "to": {"/dashboard/keys"}},
		"/sign-up":                     {"email": {"x@example.com"}, "password": {"short"}, "again": {"short"}},
	}
	seen := map[string]bool{}
	for action, form := range forms {
		who := b
		if strings.HasPrefix(action, "/sign") {
			who = stranger
		}
		got := who.submit(action, form)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, "%s: %s", action, got.body)
		shown := fieldsOf(t, got.body, action)
		for field, value := range form {
			if !slices.Contains([]string{tokenField, "do", "state", "code", "password", "again"}, field) {
				require.Equal(t, strings.TrimSpace(value[0]), strings.TrimSpace(shown[field]), "%s: %s", action, field)
			}
		}
		require.Empty(t, shown["password"], action)
		seen[action] = true
	}
	seen["/sign-out"], seen[keyPath+"/rotate"] = true, true // a list of valid values
	for path := range s.routes() {
		got := b.get(strings.NewReplacer("{$}", "", "{id}", "1", "{name}", "sign-up", "{page}", "errors").Replace(path))
		for _, e := range parsePage(t, "", got.body) {
			_, readonly := e.attrs["readonly"]
			filled := e.name == "textarea" || e.name == "select" || // by people; a password cannot be shown again
				e.name == "input" && !readonly && !slices.Contains([]string{"hidden", "submit", "password"}, e.attrs["type"])
			if action := e.form["action"]; filled && e.form["method"] == "post" {
				require.True(t, seen[action], "the form of %s with %s is in no row", path, action)
			}
		}
	}
}

func fieldsOf(t *testing.T, page, action string) map[string]string {
	fields, menu := map[string]string{}, ""
	for _, e := range parsePage(t, action, page) {
		_, checked := e.attrs["checked"]
		_, selected := e.attrs["selected"]
		name, value := e.attrs["name"], e.attrs["value"]
		switch {
		case e.form["action"] != action || name == tokenField || name == "" && e.name != "option": // not sent
		case e.name == "input" && e.attrs["type"] == "checkbox":
			if checked {
				fields[name] = "on"
			}
		case e.name == "input":
			fields[name] = value
		case e.name == "textarea":
			if text := strings.TrimPrefix(e.text, "\n"); text != "" {
				fields[name] = text
			}
		case e.name == "select":
			menu = name
		case e.name == "option" && selected:
			if _, given := e.attrs["value"]; !given {
				value = e.text
			}
			fields[menu] = value
		}
	}
	return fields
}
