package command

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/contract"
)

// chargeIn charges points by a clock that is ahead by a number of years.
func (s *instance) chargeIn(t *testing.T, years int, key string, points int64) {
	ctx := context.Background()
	l, err := ledger.Open(ctx, s.database, ledger.WithClock(func() time.Time { return time.Now().AddDate(years, 0, 0) }))
	require.NoError(t, err)
	defer l.Close()
	request, d, err := l.Begin(ctx, key, "")
	require.NoError(t, err)
	require.Equal(t, ledger.Good, d.Kind)
	defer request.End()
	_, err = request.Claim(points, nil)
	require.NoError(t, err)
	d, err = request.Charge(ledger.Charge{Points: points})
	require.NoError(t, err)
	require.Equal(t, ledger.Good, d.Kind)
}

// An account whose month a wrong clock advanced is reset while the service runs.
func TestAccountReset(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	key, account := s.limitedKey(t, 100)
	ask := func() string {
		response, _ := s.send(t, http.MethodPost, "/v1/emails", key, `{"emails":["x"]}`, nil)
		require.Equal(t, http.StatusOK, response.StatusCode)
		return response.Header.Get("X-Usage-Current")
	}
	reset := func(args ...string) string {
		out, err, code := operator(t, append([]string{"account", "reset", "--database", s.database}, args...)...)
		require.Zero(t, code, err)
		return out
	}
	require.Equal(t, "1", ask())
	s.chargeIn(t, 10, key, 7)
	require.Equal(t, "8", ask(), "the account is still ten years ahead")

	now := time.Now().UTC()
	require.Equal(t, fmt.Sprintf("account %d reset: its month was %d-%s and is now %s; 9 points used this month, 8 of them moved from future days to today; its bucket is full\n",
		account, now.Year()+10, now.Format("01"), now.Format("2006-01")), reset("--account", testAccount))
	require.Equal(t, "10", ask())
	require.Contains(t, reset("--all"), "its month was correct, "+now.Format("2006-01"))

	today := ledger.DayOf(time.Now())
	days, err := s.ledger.UsageHistory(context.Background(), account, 0, today+4000)
	require.NoError(t, err)
	var sum int64
	for _, d := range days {
		require.LessOrEqual(t, d.Day, today)
		sum += d.Points
	}
	require.Equal(t, s.used(t), sum)
}

func TestAccountResetErrors(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", "127.0.0.1:1")
	for args, message := range map[[2]string]string{
		{"--account", "nobody@example.org"}: "see addrspec account list",
		{"--account", ""}:                   "needs an @",
		{"--all", "--account=a@b.c"}:        "can't be used together",
		{"--all", "seven"}:                  "seven",
	} {
		_, err, code := operator(t, "account", "reset", "--database", s.database, args[0], args[1])
		require.NotZero(t, code)
		require.Contains(t, err, message)
	}
}

func TestAccountResetRefusesWrongClock(t *testing.T) {
	t.Parallel()
	for message, clock := range map[string]time.Time{
		"before this program was built": time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC),
		"correct the wrong one first":   time.Now().AddDate(2, 0, 0),
		"":                              time.Now().Add(time.Hour),
	} {
		l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "a.db"), ledger.WithClock(func() time.Time { return clock }))
		require.NoError(t, err)
		defer l.Close()
		if err := checkClock(t.Context(), l); message == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, message)
		}
	}
}
