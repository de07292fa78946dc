package ledger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func TestMain(m *testing.M) { ledgertest.Main(m) }

// After a process is killed under load, the database contains every charge that
// it confirmed, is not damaged, and its history agrees with the points used.
func TestKillUnderLoad(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		const email, group = "owner@example.com", 256 // charges in a commit group
		l, db := ledgertest.Open(t, url), pgtest.SQL(t, url)
		secret, named := ledgertest.NewAccount(t, l, email), url
		if !strings.HasPrefix(url, "sqlite:") {
			named += "&application_name=killed"
		}
		for round := range 5 {
			confirmed := ledgertest.StartWorker(t, named, secret, 40*(round+1))()
			if named != url { // a commit may have been on its way to the server
				require.Eventually(t, func() bool {
					var open int
					err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'killed'").Scan(&open)
					return err == nil && open == 0
				}, 2*time.Minute, time.Millisecond)
			} else {
				var found string
				require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&found))
				require.Equal(t, "ok", found)
			}
			used := ledgertest.Used(t, l, email)
			require.GreaterOrEqual(t, used, confirmed, "a charge with a response is missing")
			require.LessOrEqual(t, used, confirmed+group, "more than one group got no response")
			points, _ := ledgertest.Usage(t, l, email)
			require.Equal(t, used, points)
		}
		before := ledgertest.Used(t, l, email)
		require.NoError(t, ledgertest.Charge(l, secret), "the other process still charges")
		require.Equal(t, before+1, ledgertest.Used(t, l, email))
	})
}
