package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/ledgertest"
	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

const chromium = "/usr/bin/chromium"

// inChromium runs a script that drives Chromium, and returns its output.
func inChromium(t *testing.T, script string, args ...string) string {
	t.Helper()
	leftToCI(t)
	for _, needed := range []string{chromium, "../edge/node_modules/playwright-core"} {
		if _, err := os.Stat(needed); err != nil {
			t.Skipf("needs Chromium and the packages of edge/: %v", err)
		}
	}
	cmd := exec.Command("node", append([]string{"dashboard/scripttest/" + script, chromium}, args...)...)
	cmd.Stderr = logIfFailed(t)
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// The front door and the documentation work in Chromium, with and without
// scripts. ADDRSPEC_PICTURES names a folder for pictures of every page.
func TestPublicPagesInChromium(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	s := start(t)
	args := []string{"http://" + s.hostPort}
	if folder := os.Getenv("ADDRSPEC_PICTURES"); folder != "" {
		args = append(args, folder)
	}
	inChromium(t, "public.mjs", args...)
}

// The example of the guide about browser keys shows its hint on a page of an
// origin that the key is bound to, and on no other.
func TestExampleOfABrowserKey(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	s := start(t, "--dns", mxtest.Start(t, exampleZone))
	key := "ask_your_browser_key"
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/" {
			w.Header().Set("Content-Type", "text/javascript")
			text := strings.ReplaceAll(examples(t, "browser")[0].Text, documentedURL, "http://"+s.hostPort)
			_, _ = w.Write([]byte(strings.ReplaceAll(text, "ask_your_browser_key", key)))
			return
		}
		_, _ = w.Write([]byte(`<!doctype html><input type="email"><p id="email-hint"></p><script>
			var failed = false, send = fetch
			fetch = (...all) => send(...all).catch((error) => { failed = true; throw error })
			</script><script type="module" src="/example.mjs"></script>`))
	}))
	defer page.Close()
	ours := strings.Replace(page.URL, "127.0.0.1", "localhost", 1) // http is for localhost only
	account, err := s.ledger.CreateAccount(t.Context(), testAccount, ledger.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()})
	require.NoError(t, err)
	key, _, err = s.ledger.CreateKey(t.Context(), account.ID, "page", ledger.KeyTerms{Origins: []string{ours}})
	require.NoError(t, err)

	require.Equal(t, "Did you mean hotmail.com?\n", inChromium(t, "example.mjs", ours, "info@hotmial.com"))
	require.Equal(t, "\n", inChromium(t, "example.mjs", page.URL, "info@hotmial.com"), "another origin")
	require.EqualValues(t, 1, s.used(t))
}
