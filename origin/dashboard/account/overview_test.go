package account

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

func TestBanner(t *testing.T) {
	refill := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	banner := func(used int64, limit book.Limit, overage bool) *bannerView {
		view := viewOfPoints(book.Account{Used: used, Points: limit, Overage: overage, Refill: refill})
		return view.banner()
	}
	require.Nil(t, banner(799, 1000, false))
	require.Nil(t, banner(1e9, book.Unlimited, false))
	require.Equal(t, &bannerView{"warn", "You have used 800 of 1,000 points this month. After the last one, requests are refused until the points refill on 1 Dec 2026."}, banner(800, 1000, false))
	require.Equal(t, &bannerView{"warn", "You have used 999 of 1,000 points this month. After the last one, requests go on and further points count as overage until 1 Dec 2026."}, banner(999, 1000, true))
	require.Equal(t, &bannerView{"bad", "You have used 1,000 of 1,000 points this month: requests are refused until the points refill on 1 Dec 2026. Your operator can raise the limit."}, banner(1000, 1000, false))
	require.Equal(t, &bannerView{"warn", "You have used 1,500 of 1,000 points this month: requests go on, and further points count as overage until 1 Dec 2026."}, banner(1500, 1000, true))
	require.Equal(t, "bad", banner(0, 0, false).Tone)
}

func TestNiceTop(t *testing.T) {
	for n, want := range map[int64]int64{0: 2, 1: 2, 2: 2, 3: 4, 5: 6, 10: 10, 11: 12, 13: 16, 17: 20, 41: 60, 2200: 4000, 1e15 + 1: 12e14} {
		require.Equal(t, want, niceTop(n), n)
	}
}

// A number that is not limited is null in JSON.
func TestPointsAsJSON(t *testing.T) {
	for account, want := range map[book.Account]string{
		{Used: 400, Points: 1000, Rate: 1}: `{"used":400,"limit":1000,"left":600,"percent":40,"overage":false,"rate":1,`,
		{Used: 7, Points: book.Unlimited, Rate: book.Unlimited, Overage: true}: `{"used":7,"limit":null,"left":null,` +
			`"percent":0,"overage":true,"rate":null,`,
	} {
		text, err := json.Marshal(viewOfPoints(account))
		require.NoError(t, err)
		require.JSONEq(t, want+`"refill":"0001-01-01T00:00:00Z","under_way":0}`, string(text))
	}
}
