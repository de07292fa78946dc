package command

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// Two replicas are replaced one after the other, behind each proxy as deploy configures it, while clients
// go on. Each of 10,000 requests is served, and charged once.
func TestUpgradeWithoutInterruption(t *testing.T) {
	eachProxy(t, func(t *testing.T, kind proxyKind) {
		database := pgtest.NeedDatabase(t)
		resolver := mxtest.New(t, contract.Zone).Addr
		var at [2]string
		var replicas [2]*process
		launchAgain := func(n int) {
			replicas[n] = launchOn(t, database, nil, "--listen", at[n], "--dns", resolver, "--drain", "5s")
			replicas[n].awaitStatus(t, http.StatusOK, "/readyz", "", "")
		}
		for n := range at {
			address, err := origintest.FreeAddress()
			require.NoError(t, err)
			at[n] = address
			launchAgain(n)
		}
		key := replicas[0].newKey(t)
		p := kind.start(t, at[:]...)
		front := &instance{hostPort: p.plain}

		var replaced atomic.Bool
		var sent, points, slow atomic.Int64
		var clients errgroup.Group
		for n := range 8 {
			method, path, body, cost := "GET", "/v1/email/jane@mail.example", "", int64(1)
			if n == 0 {
				method, path, body, cost = "POST", "/v1/emails", `{"emails":["a@mail.example","b@mail.example"]}`, 2
			}
			clients.Go(func() error {
				for sent.Add(1) <= 10_000 || !replaced.Load() {
					response, text, err := front.ask(method, path, key, body, nil)
					switch {
					case err != nil:
						return err
					case response.StatusCode == http.StatusOK && !strings.Contains(text, `"partial":true`):
						points.Add(cost)
					case response.StatusCode == http.StatusServiceUnavailable && (strings.Contains(text, "undecided") || strings.Contains(text, "The ledger")):
						slow.Add(cost) // a machine on which a commit takes seconds: it may or may not be charged
					default:
						return fmt.Errorf("request %d: %s %s", sent.Load(), response.Status, text)
					}
				}
				return nil
			})
		}
		for n := range replicas {
			require.NoError(t, replicas[n].Terminate(hung))
			launchAgain(n)
		}
		replaced.Store(true)
		require.NoError(t, clients.Wait())
		require.NoError(t, replicas[0].Terminate(hung))
		require.NoError(t, replicas[1].Terminate(hung))
		require.InDelta(t, points.Load(), replicas[0].used(t), float64(slow.Load()))
	})
}
