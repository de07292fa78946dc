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
	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

const (
	blocking   = "{\n  \"block\": {\n    \"domains\": [\"spam.example\"],\n    \"reasons\": [\"disposable\"]\n  }\n}"
	disposible = "{\n  \"block\": {\n    \"reasons\": [\n      \"role\",\n      \"disposible\"\n    ]\n  }\n}"
)

func (b *browser) createPolicy(name, document string) string {
	path := policiesPath + "/" + name
	require.Equal(b, path+"?done=policy-created", b.submit(policiesPath, url.Values{"name": {name}, "document": {document}}).header.Get("Location"))
	return path
}

func TestPoliciesOfAnAccount(t *testing.T) {
	eachOwner(t, func(t *testing.T, s *site, b *browser) {
		require.Contains(t, b.get(policiesPath).body, "There are no policies yet")
		path := b.createPolicy("sign-up", strings.ReplaceAll(blocking, "\n", "\r\n"))
		list := read[account.PolicyPage](b, path)
		require.Equal(t, blocking, list.Document, "with the line breaks that a program gives")
		expect(t, http.StatusOK, b.get(path), "<title>Policy sign-up · addrspec</title>", "&#34;spam.example&#34;")
		got := expect(t, http.StatusConflict, b.submit(policiesPath, url.Values{"name": {"sign-up"},
			"document": {"{}"}}), "The account has a policy with this name.")
		got = expect(t, http.StatusUnprocessableEntity, b.submit(policiesPath, url.Values{"name": {"<script>alert(1)</script>"}}),
			"The name of a policy must have 1 to 64 of a-z, 0-9, - and _.")
		require.NotContains(t, got.body, "<script>alert")

		require.Equal(t, path+"?done=policy-changed", b.submit(path, url.Values{"document": {`{}`}}).header.Get("Location"))
		stranger := s.signedIn(t, s.createAccount(t, "other@example.com").ID)
		for _, name := range []string{"sign-up", "none", "A", "%00", strings.Repeat("a", 65)} {
			require.Equal(t, http.StatusNotFound, stranger.get(policiesPath+"/"+name).status, name)
			require.Equal(t, http.StatusNotFound, stranger.get(policiesPath+"/"+name+"/delete").status, name)
		}
		var p page.Problem
		for _, to := range []string{path, path + "/test", path + "/delete"} {
			fields := map[string]string{"document": blocking, "email": "a@b"}
			require.Equal(t, http.StatusNotFound, stranger.postFrom("/dashboard", to, fields, &p).status, to)
		}

		require.Equal(t, policiesPath+"?done=policy-deleted", b.submit(path+"/delete", url.Values{}).header.Get("Location"))
		require.Equal(t, http.StatusNotFound, b.get(path).status)
	})
}

// The second of two tabs that save gets the page again with what it entered, and replaces
// the first one's change only if it saves once more.
func TestTwoTabsEditAPolicy(t *testing.T) {
	eachOwner(t, func(t *testing.T, s *site, b *browser) {
		path := b.createPolicy("sign-up", blocking)
		var began, list account.PolicyPage
		b.getJSON(path, &began)
		version := strconv.FormatInt(began.Policy.Version, 10)
		first, second := `{"block": {"reasons": ["role"]}}`, `{"block": {"reasons": ["typo"]}}`
		require.Equal(t, http.StatusSeeOther, b.submit(path, url.Values{"version": {version}, "document": {first}}).status)
		require.Equal(t, http.StatusSeeOther, b.submit(path, url.Values{"version": {version}, "document": {first}}).status, "a double click")
		got := expect(t, http.StatusConflict, b.submit(path, url.Values{"version": {version}, "document": {second}}),
			"The policy was changed since this page was opened", "[&#34;typo&#34;]")
		b.getJSON(path, &list)
		require.Equal(t, first, list.Document)
		now := strconv.FormatInt(list.Policy.Version, 10)
		require.Contains(t, got.body, `name="version" value="`+now+`"`)
		expect(t, http.StatusConflict, b.postJSON(path, map[string]any{"version": began.Policy.Version,
			"document": second}, new(any)), `"code":"POLICY_CHANGED"`)
		require.Equal(t, http.StatusSeeOther, b.submit(path, url.Values{"version": {now}, "document": {second}}).status)
		b.getJSON(path, &list)
		require.Equal(t, second, list.Document)
		require.Equal(t, http.StatusUnprocessableEntity, b.submit(path, url.Values{"version": {now}}).status, "no document")
		for _, wrong := range []string{"", "x", "<b>", "9999999999999999999"} {
			require.Equal(t, http.StatusUnprocessableEntity, b.submit(path, url.Values{"version": {wrong}, "document": {first}}).status)
		}
	})
}

func TestPolicyOfAKey(t *testing.T) {
	eachOwner(t, func(t *testing.T, s *site, b *browser) {
		path := b.createPolicy("sign-up", blocking)
		b.createPolicy("other", "{}")
		require.Contains(t, b.get("/dashboard/keys").body, "<option>sign-up</option>")
		b.shown(b.submit("/dashboard/keys", url.Values{"name": {"<b>shop</b>"}, "policy": {"sign-up"}}))
		expect(t, http.StatusUnprocessableEntity, b.submit("/dashboard/keys", url.Values{"name": {"shop"},
			"policy": {"missing"}}), "The account has no policy &#34;missing&#34;.")

		got := b.get(policiesPath)
		require.Contains(t, got.body, `<a href="/dashboard/keys/1">&lt;b&gt;shop&lt;/b&gt;</a>`)
		require.NotContains(t, got.body, "<b>shop")
		view := read[account.PoliciesView](b, policiesPath)
		require.Equal(t, []string{"other", "sign-up"}, []string{view.Policies[0].Name, view.Policies[1].Name})
		require.Equal(t, []account.KeyName{{ID: 1, Name: "<b>shop</b>"}}, view.Policies[1].Keys)
		require.Contains(t, b.get(path+"/delete").body, "It is the default of")
		expect(t, http.StatusConflict, b.submit(path+"/delete", url.Values{}),
			"The policy is the default of the key “&lt;b&gt;shop&lt;/b&gt;”.")
		expect(t, http.StatusConflict, b.postJSON(path+"/delete", map[string]string{}, new(any)),
			`"code":"POLICY_IN_USE"`)

		got = b.get("/dashboard/keys/1")
		require.Contains(t, got.body, "<option selected>sign-up</option>")
		var key account.KeyPageView
		b.postJSON("/dashboard/keys/1", map[string]string{"name": "shop"}, new(any))
		b.getJSON("/dashboard/keys/1", &key)
		require.Equal(t, "sign-up", key.Key.Policy, "what a program leaves out stays")
		require.Equal(t, http.StatusSeeOther, b.submit("/dashboard/keys/1", url.Values{"name": {"shop"}, "policy": {""}}).status)
		require.Equal(t, http.StatusSeeOther, b.submit(path+"/delete", url.Values{}).status)
	})
}

// Of many keys a page names three, and a sentence one. An account has a limited number of policies.
func TestManyKeysAndPolicies(t *testing.T) {
	s, b := ownSite(t)
	path := b.createPolicy("sign-up", blocking)
	for n := range 5 {
		_, _, err := s.Ledger.CreateKey(t.Context(), s.account.ID, "key "+strconv.Itoa(n), book.KeyTerms{Policy: "sign-up"})
		require.NoError(t, err)
	}
	require.Contains(t, b.get(policiesPath).body, " and 2 more")
	require.Contains(t, b.submit(path+"/delete", url.Values{}).body, "and 4 more keys. Give the key another default first")
	for n := range book.MaxPolicies - 1 {
		must(s.Ledger.SetPolicy(t.Context(), s.account.ID, "policy-"+strconv.Itoa(n), "{}"))(t)
	}
	expect(t, http.StatusUnprocessableEntity, b.submit(policiesPath, url.Values{"name": {"another"}}),
		"The account has 100 policies, which is the most")
}

// Each policy of the guide can be the first document, and its form sends the document back as it is.
func TestPoliciesToBeginWith(t *testing.T) {
	_, b := ownSite(t)
	require.Len(t, docs.Policies(), 4)
	for n, begin := range docs.Policies() {
		name := "policy-" + strconv.Itoa(n)
		require.Equal(t, http.StatusSeeOther, b.submit(policiesPath, url.Values{"name": {name}, "start": {begin.Name}}).status)
		path := policiesPath + "/" + name
		fields := fieldsOf(t, b.get(path).body, path)
		delete(fields, "version")
		require.Equal(t, map[string]string{"document": begin.Document, "email": "", "lookup": "", "exchanges": ""}, fields)
	}
	require.Equal(t, http.StatusUnprocessableEntity, b.submit(policiesPath, url.Values{"name": {"a"}, "start": {"<b>"}}).status)
}

// A test shows verdict, reason and rule, at no cost and without a request of the API.
func TestAPolicyIsTestedAtNoCost(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{}) // without an API and a resolver
	b := s.signedIn(t, s.account.ID)
	path := b.createPolicy("sign-up", `{"allow":{"domains":["*.corp.example"]},"block":{"reasons":["disposable","no_mail"]},"review":{"reasons":["no_mx","role"]}}`)
	test := path + "/test"
	expect(t, http.StatusOK, b.submit(test, url.Values{"email": {"x@mailinator.com"}}),
		`<span class="tag bad">block</span>`, `<dd><code>disposable</code></dd>`,
		`<code>block.reasons[0]</code>, which is <code>disposable</code>`)
	require.Contains(t, b.submit(test, url.Values{"email": {"a@x.corp.example"}}).body, "which is <code>*.corp.example</code>")
	require.Contains(t, b.submit(test, url.Values{"email": {"a@@b"}}).body, "It is not a valid address, which every policy blocks.")
	for lookup, want := range map[string]string{"": `"allow","reason":null,"rule":null`, "mx": `"allow","reason":null,"rule":null`,
		"address": `"review","reason":"no_mx","rule":"review.reasons[0]"`,
		"none":    `"block","reason":"no_mail","rule":"block.reasons[1]"`} {
		got := b.postJSON(test, map[string]string{"email": "jane@example.org", "lookup": lookup}, new(any))
		expect(t, http.StatusOK, got, `"verdict":{"action":`+want+`}`)
	}
	entries := `{"block":{"addresses":["jane.doe@gmail.com"],"exchanges":["*.burner.example"]},"review":{"exchanges":["mx.tiny.example"]}}`
	for _, c := range []struct{ email, exchanges, want string }{
		{"j.anedoe+x@googlemail.com", "", `"block","reason":"address","rule":"block.addresses[0]"`},
		{"jane@example.org", "MX.burner.example", `"block","reason":"exchange","rule":"block.exchanges[0]"`},
		{"jane@example.org", "mx.burner.example mx.other.example", `"allow","reason":null,"rule":null`},
		{"jane@example.org", " mx.tiny.example ", `"review","reason":"exchange","rule":"review.exchanges[0]"`},
	} {
		got := b.postJSON(test, map[string]string{"email": c.email, "exchanges": c.exchanges, "document": entries}, new(any))
		expect(t, http.StatusOK, got, `"verdict":{"action":`+c.want+`}`)
	}
	for _, email := range []string{`"<script>alert(1)</script>"@example.org`, "\u202egro@example.org", "\x1b[31m@example.org", strings.Repeat("x", 60_000) + "@example.org", "a\x00b@example.org"} {
		got := expect(t, http.StatusOK, b.submit(test, url.Values{"email": {email}}))
		require.NotContains(t, got.body, "<script>alert")
		shown := asPasted.ReplaceAllString(got.body, "")
		require.NotContains(t, shown, "\u202e")
		require.NotContains(t, shown, "\x1b")
	}
	for _, form := range []url.Values{{"email": {" "}}, {"email": {"a@b"}, "lookup": {"<b>"}}} {
		require.Equal(t, http.StatusUnprocessableEntity, b.submit(test, form).status)
	}
	expect(t, http.StatusOK, b.postJSON(test, map[string]string{"email": "x@mailinator.com", "document": "{}"}, new(any)),
		`"verdict":{"action":"allow"`) // by the document that is given, which is not saved
	require.EqualValues(t, 1, read[account.PolicyPage](b, path).Policy.Version)
	expect(t, http.StatusUnprocessableEntity, b.submit(test, url.Values{"email": {"a@b.example"}, "document": {disposible}}),
		"<mark>5        &#34;disposible&#34;</mark>", `aria-describedby="json-hint flaw" aria-invalid="true"`)
	require.Nil(t, s.API)
}

// Documents that are too large, too deep or not JSON are refused with the place, and become
// no markup.
func TestHostilePolicies(t *testing.T) {
	s, b := ownSite(t)
	path := b.createPolicy("sign-up", blocking)
	domains := make([]string, 10_001)
	for n := range domains {
		domains[n] = fmt.Sprintf("d%05d.example", n)
	}
	many := `{"block": {"domains": ["` + strings.Join(domains, `", "`) + `"]}}`
	for name, c := range map[string]struct{ document, want string }{
		"10,001 domains":  {many, "block.domains[10000]: the document has more than 10000 domains, addresses and exchanges."},
		"65 KiB of rules": {`{"block": {"reasons": ["role"` + strings.Repeat(`,"role"`, 65<<10/7) + `]}}`, "the document: it has more than 65536 bytes outside its arrays of domains, addresses and exchanges."},
		"deep arrays":     {`{"block":{"reasons":` + strings.Repeat("[", 100_000), "block.reasons[0]: it is an array; a string is expected."},
		"markup":          {`{"<script>alert(1)</script>": 1}`, "&#34;&lt;script&gt;alert(1)&lt;/script&gt;&#34; is no member of a policy"},
		"out of the area": {`</textarea><script>alert(1)</script>`, "line 1, column 1: an object is expected here."},
		"controls":        {"{\u202e\x1b\x00", "line 1, column 2"},
		"invalid UTF-8":   {"{\"\xff\": 1}", "line 1, column"},
		"nothing":         {"", "line 1, column 1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := expect(t, http.StatusUnprocessableEntity, b.submit(path, url.Values{"document": {c.document}}),
				c.want)
			require.NotContains(t, got.body, "<script>alert")
			require.NotContains(t, asPasted.ReplaceAllString(got.body, ""), "\u202e")
			var p page.Problem
			require.Equal(t, http.StatusUnprocessableEntity, b.postJSON(policiesPath, map[string]string{"name": "another", "document": c.document}, &p).status)
		})
	}
	most := `{"block": {"domains": ["` + strings.Join(domains[1:], `", "`) + `"]}}`
	require.Equal(t, http.StatusSeeOther, b.submit(path, url.Values{"document": {most}}).status, "as many as a document may have")
	require.Equal(t, http.StatusOK, b.get(path).status)
	require.Equal(t, http.StatusRequestEntityTooLarge, b.submit(path, url.Values{"document": {strings.Repeat(" ", maxDocument)}}).status)

	long := strings.Repeat("a", 60) + "." + strings.Repeat("b", 60) + "." + strings.Repeat("c", 60)
	for n := range domains {
		domains[n] = fmt.Sprintf("d%05d.%s.example", n, long)
	}
	_, err := s.Ledger.SetPolicy(t.Context(), s.account.ID, "long", `{"block": {"domains": ["`+strings.Join(domains[1:], `", "`)+`"]}}`)
	require.NoError(t, err)
	got := b.get(policiesPath + "/long")
	require.Contains(t, got.body, "The document is too long to be edited in a browser.")
	require.Less(t, len(got.body), 64<<10)
	require.Contains(t, b.submit(policiesPath+"/long/test", url.Values{"email": {"a@" + domains[7]}}).body, "block.domains[6]")
}

// Pages with documents wait for each other, not for other pages, and one account has few.
func TestPagesOfPoliciesAreBounded(t *testing.T) {
	s, b := ownSite(t)
	path := b.createPolicy("sign-up", blocking)
	owner := strconv.FormatInt(s.account.ID, 10)
	held := fill(s.Limits.Documents, owner)
	require.Equal(t, http.StatusTooManyRequests, b.get(path).status)
	for _, to := range []string{path, policiesPath} {
		expect(t, http.StatusTooManyRequests, b.postFrom("/dashboard", to, map[string]string{"document": "{}"},
			new(any)), `"code":"BUSY_ACCOUNT"`)
	}
	require.Equal(t, http.StatusOK, b.get("/dashboard/keys").status)
	s.Limits.Documents.Free(owner, held)
	require.Equal(t, http.StatusOK, b.get(path).status)
}

// Documents are read in turn, and a client that leaves meanwhile waits for none.
func TestDocumentsOfPoliciesAreReadInTurn(t *testing.T) {
	s, b := ownSite(t)
	path := b.createPolicy("sign-up", blocking)
	token, held := b.token(path), fill(s.Limits.Processors, "other")
	done := make(chan int)
	go func() { done <- b.forge(path, token, url.Values{"document": {"{}"}}, "", "").status }()
	require.Eventually(t, func() bool { return s.Limits.Processors.Waiting() == 1 }, hung, time.Millisecond)
	s.Limits.Processors.Free("other", held)
	require.Equal(t, http.StatusSeeOther, <-done)
}

// Forms that arrive keep nobody from a page, and those of one network nobody from sending a form.
func TestSlowFormsBlockNoPage(t *testing.T) {
	s, b := ownSite(t)
	const to = "/dashboard/settings/name"
	name := url.Values{"name": {"Ada"}}
	require.Equal(t, 32, fill(s.Limits.Arriving, "192.0.2.0/24"))
	require.Equal(t, http.StatusSeeOther, b.submit(to, name).status)
	own := fill(s.Limits.Arriving, "127.0.0.0/24")
	expect(t, http.StatusTooManyRequests, b.submit(to, name), "Many requests from your network")
	s.Limits.Arriving.Free("127.0.0.0/24", own)
	others := 0
	for ; fill(s.Limits.Arriving, strconv.Itoa(others)) > 0; others++ {
	}
	require.Greater(t, others, 7, "256 in all, and each has a part of what is free")
	expect(t, http.StatusServiceUnavailable, b.submit(to, name), "Try again in a few seconds")
	require.Equal(t, http.StatusOK, b.get(to[:len("/dashboard/settings")]).status)
	s.Limits.Arriving.Free("0", s.Limits.Arriving.Held("0"))
	require.Equal(t, http.StatusSeeOther, b.submit(to, name).status)
}

// Large forms that arrive slowly keep nobody from sending a small one.
func TestFormsOfPoliciesAreBounded(t *testing.T) {
	s, b := ownSite(t)
	path := b.createPolicy("sign-up", blocking)
	large := url.Values{"document": {strings.Repeat(" ", maxDocument/2) + "{}"}}
	require.NoError(t, s.Limits.Arriving.Take(t.Context(), "127.0.0.0/24", 25)) // of 32 steps; the large form needs 9
	expect(t, http.StatusTooManyRequests, b.submit(path, large), "Many requests from your network")
	require.Equal(t, http.StatusSeeOther, b.submit("/dashboard/settings/name", url.Values{"name": {"Ada"}}).status)
	require.Equal(t, http.StatusSeeOther, b.submit(path, url.Values{"document": {"{}"}}).status, "a small policy")
	s.Limits.Arriving.Free("127.0.0.0/24", 25)
	require.Equal(t, http.StatusUnprocessableEntity, b.submit(path, large).status, "it is read")
	for to, length := range map[string]int{policiesPath: maxDocument, "/dashboard/settings/name": maxForm} {
		require.Equal(t, http.StatusRequestEntityTooLarge, b.submit(to, url.Values{"name": {strings.Repeat("x", length)}}).status, to)
	}
}
