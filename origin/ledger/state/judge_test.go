package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

func TestJudgeKey(t *testing.T) {
	now := time.Unix(100, 0)
	over, later := now.UnixNano(), now.UnixNano()+1
	for name, c := range map[string]struct {
		key     Key
		account Account
		secret  int64
		origin  string
		want    Kind
	}{
		"good":           {},
		"not yet over":   {key: Key{expires: later}, secret: later},
		"key expired":    {key: Key{expires: over}, want: UnknownKey},
		"secret expired": {secret: over, want: UnknownKey},
		"revoked":        {key: Key{revoked: true}, want: UnknownKey},
		"suspended":      {account: Account{suspended: true}, want: UnknownKey},
		"any page":       {origin: "https://a.example"},
		"its page":       {key: Key{origins: "https://b.example https://a.example"}, origin: "https://a.example"},
		"other page":     {key: Key{origins: "https://a.example"}, origin: "https://a.example.evil.example", want: WrongOrigin},
		"two pages":      {key: Key{origins: "https://a.example https://b.example"}, origin: "https://a.example https://b.example", want: WrongOrigin},
		"no page":        {key: Key{origins: "https://a.example"}, want: WrongOrigin},
		"key first":      {key: Key{origins: "https://a.example", revoked: true}, want: UnknownKey},
	} {
		require.Equal(t, c.want, c.key.judge(&c.account, c.secret, now, c.origin), name)
	}
	require.Equal(t, "points claimed", Claimed.String(), "the last kind has the last name")
}

// A day is one of the account's month, also if the clock is set back.
func TestDayOfACharge(t *testing.T) {
	december := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	a := Account{consumption: consumption{month: book.MonthOf(december)}}
	for day, want := range map[string]string{"2026-11-30": "2026-12-01", "2026-12-07": "2026-12-07", "2027-01-05": "2026-12-31"} {
		now, err := time.Parse(time.DateOnly, day)
		require.NoError(t, err)
		require.Equal(t, want, a.day(now).String())
	}
	require.Equal(t, time.Second, untilRefill(a.month, december.AddDate(1, 0, 0)))
}
