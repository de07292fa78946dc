package browser

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/preview/seed"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// An owner's first hour. It is the one story of every run.
func TestLifeOfAKey(t *testing.T) {
	endpoint(t)
	script(t, "stories/key-life.mjs", serve(t, origintest.NewDatabase(t), "--demo").link)
}

func TestStories(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	s := serve(t, origintest.NewDatabase(t))
	for _, story := range []struct {
		name     string
		operator bool
	}{{"no-script", false}, {"keyboard", false}, {"operator", true}, {"list", false}, {"passkey", false}} {
		t.Run(story.name, func(t *testing.T) {
			script(t, "stories/"+story.name+".mjs", s.account(t, story.name+"@example.com", story.operator))
		})
	}
}

// Policies are edited with scripts and without.
func TestPolicies(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	s := serve(t, origintest.NewDatabase(t))
	script(t, "stories/policy.mjs", s.account(t, "policy@example.com", false))
	script(t, "stories/policy.mjs", s.account(t, "policy-no-script@example.com", false), "no-script")
}

// What people do who are not signed in. No page of the documentation is very long.
func TestVisitors(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	for story, flags := range map[string][]string{"sign-up": {"--signup", "open"}, "public": nil, "documentation": nil} {
		t.Run(story, func(t *testing.T) {
			t.Log(script(t, "stories/"+story+".mjs", serve(t, origintest.NewDatabase(t), flags...).url))
		})
	}
}

// A list ends when the points are used up, with the rows that are done.
func TestPointsRunOutOnAList(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	s := serve(t, origintest.NewDatabase(t))
	l := ledgertest.Open(t, s.database)
	_, account := ledgertest.NewAccountOn(t, l, "few@example.com", book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(100)})
	script(t, "stories/list-points.mjs", s.linkTo(t, l, account))
	require.EqualValues(t, 64, ledgertest.Used(t, l, "few@example.com"))
}

// The same file, if its shape is not exotic, gives the same bytes on the page Lists and by the command: with the
// account and with --server, in the browser and with --offline, for a spreadsheet and
// with --csv-safe.
func TestOneLayoutOfLists(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	s := serve(t, origintest.NewDatabase(t))
	l := ledgertest.Open(t, s.database)
	_, account := ledgertest.NewAccountOn(t, l, "lists@example.com", book.Terms{Plan: "enterprise"})
	key, _, err := l.CreateKey(t.Context(), account, "lists", book.KeyTerms{})
	require.NoError(t, err)
	lists, results := origintest.Lists(t, "../../check/input/testdata/crossing.json"), t.TempDir()
	lists = slices.DeleteFunc(lists, func(list origintest.List) bool { return slices.Contains(exotic, list.Name) })
	var files []string
	for n, list := range lists {
		files = append(files, filepath.Join(results, fmt.Sprintf("%d-%s", n, list.File)))
		require.NoError(t, os.WriteFile(files[n], list.Content, 0o600))
	}
	names := must(json.Marshal(files))(t)
	script(t, "stories/layout.mjs", s.linkTo(t, l, account), results, string(names))
	for n, list := range lists {
		for way, flags := range map[string][]string{"online": {"--server", s.url, "--key", key}, "offline": {"--offline"}, "safe": {"--offline", "--csv-safe"}} {
			cmd := command(t, append([]string{"check", "--quiet", "--to", "csv", files[n]}, flags...)...)
			cmd.Stderr = nil // lines that cannot be read are part of the lists, and end with 1
			want, _ := cmd.Output()
			require.Equal(t, string(want), string(readFile(t, filepath.Join(results, fmt.Sprintf("%d-%s.csv", n, way)))), "%s, %s", list.Name, way)
		}
	}
}

// exotic are the lists that Papa Parse reads in another way than the command, or for which the page
// asks for the encoding, which the command guesses.
var exotic = []string{"Windows-1252", "UTF-16 without a mark", "a line in another encoding", "white space around a cell", "a quoted local part", "addresses that are too long"}

func readFile(t *testing.T, name string) []byte {
	content := must(os.ReadFile(name))(t)
	return content
}

// The example of the guide about browser keys shows its hint on a page of an
// origin that the key is bound to, and on no other.
func TestExampleOfABrowserKey(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	s := serve(t, origintest.NewDatabase(t))
	var key string
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveExample(w, r, s.url, key) }))
	defer page.Close()
	ours := strings.Replace(page.URL, "127.0.0.1", "localhost", 1) // http is for localhost only
	l := ledgertest.Open(t, s.database)
	_, account := ledgertest.NewAccountOn(t, l, "page@example.com", book.Terms{Plan: "pro"})
	key, _, err := l.CreateKey(t.Context(), account, "page", book.KeyTerms{Origins: []string{ours}})
	require.NoError(t, err)
	require.Equal(t, "Did you mean hotmail.com?\n", script(t, "stories/example.mjs", ours, "info@hotmial.com"))
	require.Equal(t, "\n", script(t, "stories/example.mjs", page.URL, "info@hotmial.com"), "another origin")
	require.EqualValues(t, 1, ledgertest.Used(t, l, "page@example.com"))
}

// serveExample serves a page with a form, and the example with a key of the service.
func serveExample(w http.ResponseWriter, r *http.Request, service, key string) {
	if r.URL.Path == "/" {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><link rel="icon" href="data:,"><input type="email"><p id="email-hint"></p><script>
			var failed = false, send = fetch
			fetch = (...all) => send(...all).catch((error) => { failed = true; throw error })
			</script><script type="module" src="/example.mjs"></script>`))
		return
	}
	list, err := docs.Examples("browser")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/javascript")
	text := strings.NewReplacer("http://127.0.0.1:8080", service, "ask_your_browser_key", key).Replace(list[0].Text)
	_, _ = w.Write([]byte(text))
}

// Three replicas behind a balancer that gives each request to any of them: sessions,
// forms and keys work the same.
func TestLifeOfAKeyOnThreeReplicas(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	database := pgtest.NeedDatabase(t)
	var replicas []*url.URL
	balancer := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(replicas[rand.IntN(len(replicas))])
		r.Out.Host = r.In.Host
	}})
	defer balancer.Close()
	public := strings.Replace(balancer.URL, "127.0.0.1", "localhost", 1)
	first := serve(t, database, "--demo", "--public-url", public)
	require.True(t, strings.HasPrefix(first.link, public))
	for _, s := range []*service{first, serve(t, database, "--public-url", public), serve(t, database, "--public-url", public)} {
		replicas = append(replicas, &url.URL{Scheme: "http", Host: s.host})
	}
	script(t, "stories/key-life.mjs", first.link)
}

// A visit is what pages.mjs looks at.
type visit struct {
	seed.Person
	Link string `json:"link"` // signs in; empty for a visitor
}

func visits(t testing.TB) (origin, people string) {
	s := serve(t, origintest.NewDatabase(t), "--signup", "open")
	l := ledgertest.Open(t, s.database)
	found := must(seed.Fill(t.Context(), l))(t)
	var list []visit
	for _, p := range found {
		v := visit{Person: p}
		if p.Account != 0 {
			v.Link = s.linkTo(t, l, p.Account)
		}
		list = append(list, v)
	}
	text := must(json.Marshal(list))(t)
	return s.url, string(text)
}

// axe finds nothing on any page, in light, dark and on a phone.
func TestEveryPageIsAccessible(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	url, people := visits(t)
	out := script(t, "pages.mjs", url, people)
	require.Regexp(t, `^[1-9][0-9]* pages`, out)
	t.Log(out)
}

// TestScreenshots takes a picture of every page, in the directory that
// ADDRSPEC_SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	directory := os.Getenv("ADDRSPEC_SCREENSHOTS")
	if directory == "" {
		t.Skip("ADDRSPEC_SCREENSHOTS names no directory; ./build.sh screenshots does")
	}
	require.NoError(t, os.MkdirAll(directory, 0o755))
	url, people := visits(t)
	script(t, "pages.mjs", url, people, directory)
}

// TestScriptUnits runs the unit tests of scripts in Node. They need no packages.
func TestScriptUnits(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	moduletest.Inputs(t, ".", "../assets", "../../check/input")
	out, err := exec.Command("node", "--test", "lists.test.mjs", "policy.test.mjs", "search.test.mjs").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "# fail 0")
	require.Contains(t, string(out), "# skipped 0")
}

// The page Lists has Papa Parse as it is in the npm package that package.json pins.
func TestPapaParseIsThePackages(t *testing.T) {
	needsNode(t)
	ours := must(os.ReadFile("../assets/papaparse.min.js"))(t)
	theirs := must(os.ReadFile("node_modules/papaparse/papaparse.min.js"))(t)
	require.Equal(t, string(theirs), string(ours), "copy the file of the package, and change the version in .ci/dependencies.md")
}

// The scripts of the dashboard are plain JavaScript with types in comments, which "check" checks.
func TestLint(t *testing.T) {
	leftToCI(t)
	needsNode(t)
	moduletest.Inputs(t, ".", "../assets", "../../../edge/biome.jsonc")
	for _, what := range []string{"check", "lint"} {
		out, err := exec.Command("npm", "run", "--silent", what).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}
