package ledger

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
	"github.com/addrspec/addrspec/origin/ledger/storetest"
)

// addKeys adds n keys outside the ledger.
func (f *fixture) addKeys(n int, revoked string) {
	f.Helper()
	f.exec(fmt.Sprintf(`INSERT INTO keys (account, name, hint, created_ns, revoked_ns)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT %d, 'key ' || i, 'ask_0000', 1, %s FROM n`, n, f.account, revoked))
}

// Replicas that create keys at the same time do not exceed the bounds together.
func TestKeysAreBounded(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, list := newReplicas(t, url, unlimitedTerms, 3)
		create := func(refusal error) (created int64) {
			var n atomic.Int64
			inParallel(12, func(i int) {
				_, _, err := list[i%3].CreateKey(f.ctx, f.account, "new", KeyTerms{})
				if err == nil {
					n.Add(1)
				} else {
					require.ErrorIs(f, err, refusal)
				}
			})
			return n.Load()
		}
		f.addKeys(MaxActiveKeys-5, "NULL") // and the fixture's own
		_, _, err := f.DashboardSecret(f.ctx, f.account)
		require.NoError(t, err, "the dashboard's key does not count")
		require.EqualValues(t, 4, create(ErrTooManyActiveKeys))
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		require.EqualValues(t, 1, create(ErrTooManyActiveKeys), "a revoked key makes room")

		f.exec("UPDATE keys SET revoked_ns = 1 WHERE NOT dashboard")
		f.addKeys(MaxKeys-MaxActiveKeys-4, "1")
		require.EqualValues(t, 3, create(ErrTooManyKeys))
	})
}

func TestListKeysInPages(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		var counter storetest.Counter
		f := newFixture(t, url, unlimitedTerms, WithStore(counter.Wrap))
		f.addKeys(MaxKeys-1, "NULL")
		counter.Take()
		count, last := 0, int64(1<<62)
		for after, more := int64(0), true; more; {
			page, err := f.ListKeys(f.ctx, f.account, KeyPage{After: after, Limit: 5000})
			require.NoError(t, err)
			require.LessOrEqual(t, len(page), MaxPage, "a page is bounded")
			for _, k := range page {
				require.Less(t, k.ID, last, "newest first")
				last, after = k.ID, k.ID
				count++
			}
			more = len(page) > 0
		}
		require.Equal(t, MaxKeys, count)
		work := counter.Take()
		require.Equal(t, MaxKeys/MaxPage+1, work.Statements["list_keys"], "the last page is empty")
		require.Equal(t, MaxKeys, work.Rows["list_keys"])
		found, err := f.ListKeys(f.ctx, f.account, KeyPage{Search: "KEY 77", Limit: 3})
		require.NoError(t, err)
		require.Len(t, found, 3)
		require.Equal(t, "key 7799", found[0].Name)
		none, err := f.ListKeys(f.ctx, f.account, KeyPage{Search: "%"})
		require.NoError(t, err)
		require.Empty(t, none)
		none, err = f.ListKeys(f.ctx, f.account+1, KeyPage{Revoked: true, Dashboard: true})
		require.NoError(t, err)
		require.Empty(t, none, "of another account")
	})
}

func TestChangeKey(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, list := newReplicas(t, url, unlimitedTerms, 2)
		other := list[1]
		require.Equal(t, Good, f.request(3).Verdict)
		name := "renamed"
		expires := f.clock.Now().Add(time.Hour)
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Name: &name}))
		terms := KeyTerms{Expires: expires, Budget: limit(5), Rate: limit(100), Origins: []string{"HTTPS://Shop.Example:443/"}}
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &terms}))

		k, err := f.Key(f.ctx, f.account, f.key.ID)
		require.NoError(t, err)
		require.Equal(t, "renamed", k.Name)
		require.Equal(t, KeyTerms{Expires: expires, Budget: limit(5), Rate: limit(100), Origins: []string{"https://shop.example"}}, k.KeyTerms)
		require.EqualValues(t, 3, k.Used, "a new budget includes the month's points before it")
		terms.Origins = nil
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &terms}))

		require.Equal(t, Insufficient, other.request(3).Verdict)
		require.Equal(t, Good, other.request(2).Verdict)
		k, err = f.Key(f.ctx, f.account, f.key.ID)
		require.NoError(t, err)
		require.EqualValues(t, 5, k.Used)
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &KeyTerms{Budget: limit(6)}}))
		require.Equal(t, Insufficient, f.request(2).Verdict, "a changed budget keeps the use")
		require.Equal(t, Good, f.request(1).Verdict)
		f.clock.until("2026-12-01T00:00:00Z")
		k, err = f.Key(f.ctx, f.account, f.key.ID)
		require.NoError(t, err)
		require.Zero(t, k.Used, "a new month")

		require.ErrorContains(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &KeyTerms{Expires: f.clock.Now()}}), "is over")
		require.ErrorContains(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Name: new(string)}), "the name of a key")
		require.ErrorIs(t, f.ChangeKey(f.ctx, f.account+1, f.key.ID, KeyChange{Name: &name}), ErrNoKey)
		require.ErrorIs(t, f.ChangeKey(f.ctx, f.account, 4711, KeyChange{Name: &name}), ErrNoKey)
		require.ErrorIs(t, f.ChangeKey(f.ctx, f.account, 0, KeyChange{Name: &name}), ErrNoKey)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		require.ErrorIs(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Name: &name}), ErrRevoked)
	})
}

// A rotated key has two secrets for the grace, at most two, and stays one key: its
// budget and its idempotency records remain.
func TestRotateKey(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, list := newReplicas(t, url, unlimitedTerms, 2)
		other := list[1]
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &KeyTerms{Budget: limit(20)}}))
		require.Equal(t, Good, f.retryable(1, 1).Verdict)
		second, k, err := other.RotateKey(f.ctx, f.account, f.key.ID, time.Hour)
		require.NoError(t, err)
		require.Equal(t, second[:8], k.Hint)
		require.Equal(t, f.clock.Now().Add(time.Hour), k.Replaced)
		again, err := f.Key(f.ctx, f.account, f.key.ID)
		require.NoError(t, err)
		k.LastDay, k.Used = again.LastDay, again.Used
		require.Equal(t, k, again)
		for _, secret := range []string{f.secret, second} {
			require.Equal(t, Good, f.requestWith(secret, 1, nil).Verdict)
			require.Equal(t, Replayed, f.requestWith(secret, 5, idempotency(1, 1)).Verdict)
		}

		third, _, err := other.RotateKey(f.ctx, f.account, f.key.ID, time.Hour)
		require.NoError(t, err)
		require.Equal(t, UnknownKey, f.requestWith(f.secret, 1, nil).Verdict, "the first secret ends with the second rotation")
		require.Equal(t, Good, f.requestWith(second, 1, nil).Verdict)
		require.Equal(t, Good, f.requestWith(third, 1, nil).Verdict)
		f.clock.advance(time.Hour)
		require.Equal(t, UnknownKey, f.requestWith(second, 1, nil).Verdict, "the grace is over")
		require.Equal(t, Good, f.requestWith(third, 1, nil).Verdict)

		fourth, k, err := other.RotateKey(f.ctx, f.account, f.key.ID, 0)
		require.NoError(t, err)
		require.Zero(t, k.Replaced)
		require.Equal(t, UnknownKey, f.requestWith(third, 1, nil).Verdict, "no grace")
		require.Equal(t, Good, f.requestWith(fourth, 1, nil).Verdict)
		var secrets int
		f.queryRow("SELECT count(*) FROM secrets", &secrets)
		require.Equal(t, 1, secrets, "rows of expired secrets are deleted")
		require.EqualValues(t, 5+6, f.used())

		for _, grace := range []time.Duration{-1, MaxGrace + 1} {
			_, _, err = f.RotateKey(f.ctx, f.account, f.key.ID, grace)
			require.ErrorContains(t, err, "outside 0 to 168h")
		}
		_, _, err = f.RotateKey(f.ctx, f.account+1, f.key.ID, 0)
		require.ErrorIs(t, err, ErrNoKey)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		_, _, err = f.RotateKey(f.ctx, f.account, f.key.ID, 0)
		require.ErrorIs(t, err, ErrRevoked)
		require.Equal(t, UnknownKey, f.requestWith(fourth, 1, nil).Verdict)
	})
}

// Rotations at the same time leave at most two secrets that are valid.
func TestConcurrentRotations(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, list := newReplicas(t, url, unlimitedTerms, 2)
		secrets := make([]string, 8)
		inParallel(len(secrets), func(i int) {
			var err error
			secrets[i], _, err = list[i%2].RotateKey(f.ctx, f.account, f.key.ID, time.Hour)
			require.NoError(f, err)
		})
		valid := 0
		for _, secret := range append(secrets, f.secret) {
			if f.requestWith(secret, 1, nil).Verdict == Good {
				valid++
			}
		}
		require.Equal(t, 2, valid)
	})
}

// A key that is bound to origins is refused to other pages before its rate is asked.
func TestOriginsOfAKey(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, list := newReplicas(t, url, unlimitedTerms, 2)
		secret, k, err := f.CreateKey(f.ctx, f.account, "page", KeyTerms{Rate: limit(1), Origins: []string{"https://b.example:8443", "https://A.example", "https://a.example:443"}})
		require.NoError(t, err)
		require.Equal(t, []string{"https://b.example:8443", "https://a.example"}, k.Origins)
		begin := func(on *fixture, origin string) Decision {
			r, d, err := on.Begin(f.ctx, secret, origin)
			require.NoError(t, err)
			if r != nil {
				r.End()
			}
			return d
		}
		for _, origin := range []string{"", "null", "https://a.example:443", "https://A.example", "http://a.example", "https://a.example.evil.example", "https://a.example https://b.example:8443", " "} {
			require.Equal(t, Decision{Verdict: WrongOrigin}, begin(f, origin), origin)
		}
		d := begin(f, "https://a.example")
		require.Equal(t, Good, d.Verdict, "refusals took no token")
		require.Equal(t, "https://a.example", d.AllowOrigin)
		d = begin(f, "https://b.example:8443")
		require.Equal(t, RateLimited, d.Verdict)
		require.Equal(t, "https://b.example:8443", d.AllowOrigin, "pages may read refusals")
		require.Equal(t, WrongOrigin, begin(f, "https://c.example").Verdict, "before the rate")

		r, d, err := f.Begin(f.ctx, f.secret, "https://a.example")
		require.NoError(t, err)
		r.End()
		require.Empty(t, d.AllowOrigin, "the key is bound to no origin")

		reads := f.Stats().Reads
		f.clock.advance(maxRefuse / 2)
		begin(f, "https://a.example")
		require.Equal(t, reads, f.Stats().Reads, "no query beside the view's")
		f.clock.advance(2 * time.Second)
		under, d, err := f.Begin(f.ctx, secret, "https://a.example")
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)
		f.clock.advance(time.Second)
		working, _, err := f.Begin(f.ctx, secret, "https://a.example")
		require.NoError(t, err)
		d, err = working.Claim(1, nil)
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)
		k.Origins = []string{"https://c.example"}
		require.NoError(t, list[1].ChangeKey(f.ctx, f.account, k.ID, KeyChange{Terms: &k.KeyTerms}))
		d, err = working.Charge(Charge{Points: 1})
		require.NoError(t, err)
		require.Equal(t, WrongOrigin, d.Verdict, "the transaction reads the row, although the view is fresh")
		working.End()
		d, err = under.Inspect()
		require.NoError(t, err)
		require.Equal(t, WrongOrigin, d.Verdict, "read again")
		require.Equal(t, WrongOrigin, f.finish(under, 1).Verdict, "a request under way on another replica")
		f.clock.advance(time.Second)
		require.Equal(t, Good, begin(f, "https://c.example").Verdict, "a new origin applies at once: a view that refuses is read again")
		f.charge(secret, "https://c.example")
		require.Equal(t, WrongOrigin, begin(f, "https://a.example").Verdict, "a commit keeps the origins of the view")
		require.NoError(t, f.RevokeKey(f.ctx, f.account, k.ID))
		d = begin(f, "https://c.example")
		require.Equal(t, UnknownKey, d.Verdict)
		require.Equal(t, "https://c.example", d.AllowOrigin, "the page may read why")
	})
}

// charge charges a request from a page.
func (f *fixture) charge(secret, origin string) {
	f.Helper()
	f.clock.advance(2 * time.Second)
	r, d, err := f.Begin(f.ctx, secret, origin)
	require.NoError(f, err)
	require.Equal(f, Good, d.Verdict)
	require.Equal(f, Good, f.finish(r, 1).Verdict)
}

func TestParseOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://shop.example":            "https://shop.example",
		"HTTPS://Shop.EXAMPLE:443/":       "https://shop.example",
		"https://shop.example:08443":      "https://shop.example:8443",
		"https://bücher.example":          "https://xn--bcher-kva.example",
		"https://192.0.2.1:80":            "https://192.0.2.1:80",
		"https://[2001:DB8:0::1]":         "https://[2001:db8::1]",
		"http://localhost:80":             "http://localhost",
		"http://localhost:3000":           "http://localhost:3000",
		"http://app.localhost:3000":       "http://app.localhost:3000",
		"http://127.0.0.1:3000":           "http://127.0.0.1:3000",
		"http://[::1]:3000":               "http://[::1]:3000",
		"https://localhost.shop.example/": "https://localhost.shop.example",
	} {
		got, err := ParseOrigin(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := ParseOrigin(got)
		require.NoError(t, err, text)
		require.Equal(t, got, again, "a serialisation is its own")
	}
	for text, why := range map[string]string{
		"":                                    "must begin with https://",
		"null":                                "null is the origin of every sandboxed page",
		"*":                                   "no wildcards",
		"https://*.shop.example":              "no wildcards",
		"shop.example":                        "must begin with https://",
		"ftp://shop.example":                  "must begin with https://",
		"http://shop.example":                 "http is for localhost only",
		"http://localhost.shop.example":       "http is for localhost only",
		"http://192.0.2.1":                    "http is for localhost only",
		"https://shop.example/page":           "no user, path",
		"https://shop.example//":              "no user, path",
		"https://shop.example?":               "no user, path",
		"https://shop.example#":               "no user, path",
		"https://me@shop.example":             "no user, path",
		"https://":                            "no user, path",
		"https://:443":                        "the host is missing",
		"https://shop.example.":               "neither a domain name",
		"https://shop..example":               "neither a domain name",
		"https://0x7f.1":                      "neither a domain name",
		"https://127.1":                       "neither a domain name",
		"https://[::ffff:192.0.2.1]":          "neither a domain name",
		"https://[fe80::1%25eth0]":            "neither a domain name",
		"https://shop.example:0":              "1 to 65535",
		"https://shop.example:":               "1 to 65535",
		"https://shop.example:65536":          "1 to 65535",
		"https://shop.example https://b.test": "must begin with https://",
		"https://a,b.example":                 "neither a domain name",
		"https://" + strings.Repeat("a", 300): "over 300 bytes",
	} {
		_, err := ParseOrigin(text)
		require.ErrorContains(t, err, why, text)
	}
	many := []string{}
	for n := range MaxOrigins + 1 {
		many = append(many, fmt.Sprintf("https://shop%d.example", n))
	}
	list, err := parseOrigins(append(many[:MaxOrigins:MaxOrigins], many[:MaxOrigins]...))
	require.NoError(t, err)
	require.Len(t, list, MaxOrigins, "each counts once")
	_, err = parseOrigins(many)
	require.ErrorContains(t, err, "20 origins at most")
}

// An error of a name or a term says which field is wrong.
func TestFieldErrors(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	for field, terms := range map[string]KeyTerms{
		"expires": {Expires: f.clock.Now().Add(-time.Hour)},
		"budget":  {Budget: limit(-2)},
		"rate":    {Rate: limit(0)},
		"origins": {Origins: []string{"*"}},
	} {
		_, _, err := f.CreateKey(f.ctx, f.account, "n", terms)
		requireField(t, err, field)
		requireField(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &terms}), field)
	}
	requireField(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Name: new(string)}), "name")
	_, _, err := f.RotateKey(f.ctx, f.account, f.key.ID, -time.Second)
	requireField(t, err, "grace")
}

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	var wrong *FieldError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, field, wrong.Field)
}

// A key's expiry must be ahead, and is refused beyond what the database can store.
func TestExpiryOfAKey(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	for _, c := range []struct {
		expires time.Time
		why     string
	}{{f.clock.Now(), "is over"}, {time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), "is over"}, {time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), "by the year 2200"}} {
		_, _, err := f.CreateKey(f.ctx, f.account, "odd", KeyTerms{Expires: c.expires})
		require.ErrorContains(t, err, c.why)
	}
}
