package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func TestStorePlans(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, book.Terms{})
		plans, err := f.Plans(f.ctx)
		require.NoError(t, err)
		require.ElementsMatch(t, book.DefaultPlans(), plans, "a new database has the default plans")

		require.NoError(t, f.StorePlans(f.ctx, []book.Plan{{Name: "free", Rate: 7, Points: 8, Stored: 1}, {Name: "gold", Rate: book.Unlimited, Points: 9, Overage: true}}))
		plans, err = f.Plans(f.ctx)
		require.NoError(t, err)
		require.Len(t, plans, 4)
		require.Contains(t, plans, book.Plan{Name: "gold", Rate: book.Unlimited, Points: 9, Overage: true})
		require.EqualValues(t, 8, f.request(1).Usage.Limit, "a changed plan applies to its accounts at their next request")

		err = f.StorePlans(f.ctx, []book.Plan{{Name: "bad", Rate: 0, Points: 1}})
		require.ErrorContains(t, err, `plan "bad"`)
	})
}
