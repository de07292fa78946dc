package dashboard

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	blocking   = "{\n  \"block\": {\n    \"domains\": [\"spam.example\"],\n    \"reasons\": [\"disposable\"]\n  }\n}"
	disposible = "{\n  \"block\": {\n    \"reasons\": [\n      \"role\",\n      \"disposible\"\n    ]\n  }\n}"
)

// create creates a policy and returns the path of its page.
func (b *browser) createPolicy(name, document string) string {
	b.Helper()
	path := policiesPath + "/" + name
	require.Equal(b, path+"?done=policy-created", b.submit(policiesPath, url.Values{"name": {name}, "document": {document}}).header.Get("Location"))
	return path
}

func TestPoliciesOfAnAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.signedIn(t, s.account.ID)
		require.Contains(t, b.get(policiesPath).body, "There are no policies yet")
		path := b.createPolicy("sign-up", strings.ReplaceAll(blocking, "\n", "\r\n"))
		var page policyPage
		b.getJSON(path, &page)
		require.Equal(t, blocking, page.Document, "with the line breaks that a program gives")
		got := b.get(path)
		require.Contains(t, got.body, "<title>Policy sign-up · addrspec</title>")
		require.Contains(t, got.body, "&#34;spam.example&#34;")

		got = b.submit(policiesPath, url.Values{"name": {"sign-up"}, "document": {"{}"}})
		require.Equal(t, http.StatusConflict, got.status)
		require.Contains(t, got.body, "The account has a policy with this name.")
		for _, name := range []string{"", "Sign up", "<script>alert(1)</script>", "a/b", "..", "ä", strings.Repeat("a", 65)} {
			got := b.submit(policiesPath, url.Values{"name": {name}})
			require.Equal(t, http.StatusUnprocessableEntity, got.status, name)
			require.Contains(t, got.body, "The name of a policy must have 1 to 64 of a-z, 0-9, - and _.")
			require.NotContains(t, got.body, "<script>alert")
		}

		require.Equal(t, path+"?done=policy-changed", b.submit(path, url.Values{"document": {`{}`}}).header.Get("Location"))
		stranger := s.signedIn(t, s.createAccount(t, "other@example.com").ID)
		for _, name := range []string{"sign-up", "none", "A", "%00", strings.Repeat("a", 65)} {
			require.Equal(t, http.StatusNotFound, stranger.get(policiesPath+"/"+name).status, name)
			require.Equal(t, http.StatusNotFound, stranger.get(policiesPath+"/"+name+"/delete").status, name)
		}
		var p problemView
		require.Equal(t, http.StatusNotFound, stranger.postFrom("/dashboard", path, map[string]string{"document": blocking}, &p).status)
		require.Equal(t, http.StatusNotFound, stranger.postFrom("/dashboard", path+"/delete", map[string]string{}, &p).status)

		require.Equal(t, policiesPath+"?done=policy-deleted", b.submit(path+"/delete", url.Values{}).header.Get("Location"))
		require.Equal(t, http.StatusNotFound, b.get(path).status)
	})
}

// An error of a document is shown with the line that has it, and what was entered remains.
func TestErrorOfAPolicyIsBesideItsLine(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	b := s.signedIn(t, s.account.ID)
	path := b.createPolicy("sign-up", blocking)
	got := b.submit(path, url.Values{"document": {strings.ReplaceAll(disposible, "\n", "\r\n")}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, `Line 5: block.reasons[1]: &#34;disposible&#34; is no reason; did you mean &#34;disposable&#34;?`)
	require.Contains(t, got.body, "<mark>5        &#34;disposible&#34;</mark>")
	require.Contains(t, got.body, `aria-invalid="true" aria-describedby="json-hint document-flaw"`)
	require.Contains(t, got.body, "&#34;disposible&#34;\r\n    ]", "what was entered")
	var page policyPage
	b.getJSON(path, &page)
	require.Equal(t, blocking, page.Document, "as it was")

	var p problemView
	require.Equal(t, http.StatusUnprocessableEntity, b.postJSON(path, map[string]string{"document": disposible}, &p).status)
	require.Equal(t, problemView{Status: 422, Code: "INVALID_INPUT", Field: "document", Sentence: `block.reasons[1]: "disposible" is no reason; did you mean "disposable"?`}, p)
}

// The second of two tabs that save gets the page again with what it entered, and replaces
// the first one's change only if it saves once more.
func TestTwoTabsEditAPolicy(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.signedIn(t, s.account.ID)
		path := b.createPolicy("sign-up", blocking)
		var began, page policyPage
		b.getJSON(path, &began)
		version := strconv.FormatInt(began.Policy.Version, 10)
		first, second := `{"block": {"reasons": ["role"]}}`, `{"block": {"reasons": ["typo"]}}`
		require.Equal(t, http.StatusSeeOther, b.submit(path, url.Values{"version": {version}, "document": {first}}).status)
		require.Equal(t, http.StatusSeeOther, b.submit(path, url.Values{"version": {version}, "document": {first}}).status, "a double click")
		got := b.submit(path, url.Values{"version": {version}, "document": {second}})
		require.Equal(t, http.StatusConflict, got.status)
		require.Contains(t, got.body, "The policy was changed since this page was opened")
		require.Contains(t, got.body, "[&#34;typo&#34;]", "what was entered")
		b.getJSON(path, &page)
		require.Equal(t, first, page.Document)
		now := strconv.FormatInt(page.Policy.Version, 10)
		require.Contains(t, got.body, `name="version" value="`+now+`"`)
		var p problemView
		require.Equal(t, http.StatusConflict, b.postJSON(path, map[string]any{"version": began.Policy.Version, "document": second}, &p).status)
		require.Equal(t, "POLICY_CHANGED", p.Code)
		require.Equal(t, http.StatusSeeOther, b.submit(path, url.Values{"version": {now}, "document": {second}}).status)
		b.getJSON(path, &page)
		require.Equal(t, second, page.Document)
		for _, wrong := range []string{"", "x", "<b>", "9999999999999999999"} {
			require.Equal(t, http.StatusUnprocessableEntity, b.submit(path, url.Values{"version": {wrong}, "document": {first}}).status)
		}
	})
}

func TestPolicyOfAKey(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.signedIn(t, s.account.ID)
		path := b.createPolicy("sign-up", blocking)
		b.createPolicy("other", "{}")
		require.Contains(t, b.get("/dashboard/keys").body, "<option>sign-up</option>")
		b.shown(b.submit("/dashboard/keys", url.Values{"name": {"<b>shop</b>"}, "policy": {"sign-up"}}))
		got := b.submit("/dashboard/keys", url.Values{"name": {"shop"}, "policy": {"missing"}})
		require.Equal(t, http.StatusUnprocessableEntity, got.status)
		require.Contains(t, got.body, "The account has no policy &#34;missing&#34;.")

		got = b.get(policiesPath)
		require.Contains(t, got.body, `<a href="/dashboard/keys/1">&lt;b&gt;shop&lt;/b&gt;</a>`)
		require.NotContains(t, got.body, "<b>shop")
		var view policiesView
		b.getJSON(policiesPath, &view)
		require.Equal(t, []string{"other", "sign-up"}, []string{view.Policies[0].Name, view.Policies[1].Name})
		require.Equal(t, []keyName{{1, "<b>shop</b>"}}, view.Policies[1].Keys)
		require.Contains(t, b.get(path+"/delete").body, "It is the default of")
		got = b.submit(path+"/delete", url.Values{})
		require.Equal(t, http.StatusConflict, got.status)
		require.Contains(t, got.body, "The policy is the default of the key “&lt;b&gt;shop&lt;/b&gt;”.")
		var p problemView
		require.Equal(t, http.StatusConflict, b.postJSON(path+"/delete", map[string]string{}, &p).status)
		require.Equal(t, "POLICY_IN_USE", p.Code)

		got = b.get("/dashboard/keys/1")
		require.Contains(t, got.body, "<option selected>sign-up</option>")
		var key keyPage
		b.postJSON("/dashboard/keys/1", map[string]string{"name": "shop"}, new(any))
		b.getJSON("/dashboard/keys/1", &key)
		require.Equal(t, "sign-up", key.Key.Policy, "what a program leaves out stays")
		require.Equal(t, http.StatusSeeOther, b.submit("/dashboard/keys/1", url.Values{"name": {"shop"}, "policy": {""}}).status)
		require.Equal(t, http.StatusSeeOther, b.submit(path+"/delete", url.Values{}).status)
	})
}

// Who is suspended reads policies, and changes none.
func TestPoliciesOfASuspendedAccount(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	b := s.signedIn(t, s.account.ID)
	path := b.createPolicy("sign-up", blocking)
	require.NoError(t, s.Ledger.SuspendAccount(t.Context(), s.account.ID))
	require.Contains(t, b.get(path).body, "spam.example")
	for path, form := range map[string]url.Values{policiesPath: {"name": {"a"}}, path: {"document": {"{}"}}, path + "/delete": {}} {
		require.Equal(t, http.StatusForbidden, b.submit(path, form).status, path)
	}
	stored, err := s.Ledger.Policy(t.Context(), s.account.ID, "sign-up")
	require.NoError(t, err)
	require.Equal(t, blocking, stored.Document)
}
