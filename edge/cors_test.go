package edge_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
)

// In Chromium, a page of the key's browser origin reads the responses of origin and
// worker, refusals included. Other pages, and pages with a key that is bound to no
// origin, read none.
func TestPagesReadResponsesInBrowser(t *testing.T) {
	t.Parallel()
	needsNode(t)
	chromium := toolPath(t, "chromium", "/usr/bin/chromium")
	o := startOrigin(t, "--dns", contract.Serve(t))
	worker := runtimes[0].start(t, "http://"+o.hostPort)
	for name, hostPort := range map[string]string{"origin": o.hostPort, "worker": worker.hostPort} {
		t.Run(name, func(t *testing.T) {
			page, other := servePage(t), servePage(t)
			email := name + "@page.test"
			key := o.account(t, email)
			bindKey(t, o.ledger, email, page)
			cmd := exec.Command("node", "test/cors.mjs", chromium)
			cmd.Env = append(os.Environ(), "PAGE="+page, "OTHER_PAGE="+other, "SERVICE=http://"+hostPort,
				"KEY="+key, "UNBOUND_KEY="+o.account(t, "unbound-"+email))
			t.Logf("%s", run(t, cmd))
			require.EqualValues(t, 2, o.used(t, email), "the preflight refuses credentials, so that request was not sent; the other page was 401")
		})
	}
}

// servePage serves a page on an origin of its own.
func servePage(t *testing.T) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>A page</title>"))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// bindKey binds an account's only key to a browser origin.
func bindKey(t *testing.T, l *ledger.Ledger, email, origin string) {
	ctx := context.Background()
	a, err := l.AccountByEmail(ctx, email)
	require.NoError(t, err)
	keys, err := l.ListKeys(ctx, a.ID, book.KeyPage{})
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.NoError(t, l.ChangeKey(ctx, a.ID, keys[0].ID, book.KeyChange{Terms: &book.KeyTerms{Origins: []string{origin}}}))
}
