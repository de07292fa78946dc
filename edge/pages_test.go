package edge_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

// What a worker forwards can be used through it: no page has a link, form, script, style
// or picture that the worker does not forward, for visitors and for who has signed in.
func TestEveryLinkOfForwardedPages(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t), "--signup", "open")
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			start := func(forward string) *process {
				return runtime.start(t, "http://"+o.hostPort, "ADDRSPEC_FORWARD="+forward)
			}
			w := start("dashboard")
			visitor, owner := newWalk(w), newWalk(w)
			visitor.from(t, "/")
			owner.signIn(t, o)
			owner.from(t, "/dashboard")
			require.Subset(t, visitor.paths(), []string{"/sign-in", "/sign-up", "/docs/errors", "/openapi.json"})
			require.Subset(t, owner.paths(), []string{"/dashboard/settings/password", "/dashboard/operator/plans", "/sign-out"})

			apart := map[string][]string{"yes": {"/healthz", "/openapi.json"}, "no": nil}
			for setting, forwarded := range apart {
				w := start(setting)
				for _, path := range append(visitor.paths(), owner.paths()...) {
					if !slices.Contains(forwarded, path) {
						require.Equal(t, http.StatusNotFound, w.send(t, get(path, "Accept: text/html")).status, "%s: %s", setting, path)
					}
				}
				for _, path := range forwarded {
					newWalk(w).from(t, path)
				}
			}
		})
	}
}

// A walk follows links with a browser's cookies.
type walk struct {
	*process
	cookies []string
	seen    map[string]string // target of a link, and the page that has it
}

func newWalk(p *process) *walk { return &walk{process: p, seen: map[string]string{}} }

var (
	links    = regexp.MustCompile(`(?:href|src|action)="([^"]*)"|url\("?([^")]*)"?\)`)
	formText = regexp.MustCompile(`name="form_token" value="([^"]*)"`)
)

// from visits a page and everything that it links to.
func (w *walk) from(t *testing.T, target string) {
	w.seen[target] = "the start"
	for next := []string{target}; len(next) > 0; next = next[1:] {
		a := w.open(t, get(next[0]))
		require.Contains(t, []int{http.StatusOK, http.StatusMovedPermanently, http.StatusSeeOther}, a.status, "%s, of %s: %s", next[0], w.seen[next[0]], a.body)
		for _, link := range append(linksOf(a), a.header.Get("Location")) {
			if to := w.resolve(t, next[0], link); to != "" && w.seen[to] == "" {
				w.seen[to] = next[0]
				next = append(next, to)
			}
		}
	}
}

// open sends the request like a browser, and keeps the cookies.
func (w *walk) open(t *testing.T, r request) response {
	a := w.send(t, r.With("Accept: text/html", "Cookie: "+strings.Join(w.cookies, "; ")))
	for _, set := range a.header.Values("Set-Cookie") {
		cookie, _, _ := strings.Cut(set, ";")
		w.cookies = append(w.cookies, cookie)
	}
	return a
}

func linksOf(a response) (targets []string) {
	if media := a.header.Get("Content-Type"); !strings.HasPrefix(media, "text/html") && !strings.HasPrefix(media, "text/css") {
		return nil
	}
	for _, found := range links.FindAllStringSubmatch(a.body, -1) {
		targets = append(targets, found[1]+found[2])
	}
	return targets
}

// resolve returns the path and query of a link on a page, "" for one to another site.
func (w *walk) resolve(t *testing.T, page, link string) string {
	base, err := url.Parse("http://" + w.hostPort + page)
	require.NoError(t, err)
	to, err := base.Parse(strings.ReplaceAll(link, "&amp;", "&"))
	require.NoError(t, err, "%s: %s", page, link)
	if link == "" || to.Host != base.Host {
		return ""
	}
	return to.RequestURI()
}

// signIn signs in with a link of the operator, as the only operator.
func (w *walk) signIn(t *testing.T, o *origin) {
	_, account := ledgertest.NewAccountOn(t, o.ledger, strings.ReplaceAll(t.Name(), "/", ".")+"@pages.test", book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()})
	users := identity.New(o.ledger)
	require.NoError(t, users.SetOperator(t.Context(), account, true))
	token, err := users.CreateLink(t.Context(), account)
	require.NoError(t, err)
	path := "/link/" + url.PathEscape(token)
	form := formText.FindStringSubmatch(w.open(t, get(path)).body)
	require.NotNil(t, form)
	body := url.Values{"form_token": {form[1]}}.Encode()
	a := w.open(t, request{Method: http.MethodPost, Target: path, Header: []string{"Content-Type: application/x-www-form-urlencoded"}, Body: body})
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
}

// paths returns the paths that were visited.
func (w *walk) paths() (paths []string) {
	for target := range w.seen {
		path, _, _ := strings.Cut(target, "?")
		paths = append(paths, path)
	}
	return paths
}
