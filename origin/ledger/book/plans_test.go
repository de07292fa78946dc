package book

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParsePlans(t *testing.T) {
	plans, err := ParsePlans(strings.NewReader(`[
		{"name": "free", "rate": 2, "points": 50},
		{"name": "gold", "rate": "unlimited", "points": "unlimited", "overage": true},
		{"name": "none", "rate": 1, "points": 0, "stored": 0}]`))
	require.NoError(t, err)
	require.Equal(t, []Plan{
		{Name: "free", Rate: 2, Points: 50, Stored: DefaultStored},
		{Name: "gold", Rate: Unlimited, Points: Unlimited, Overage: true, Stored: DefaultStored},
		{Name: "none", Rate: 1, Points: 0},
	}, plans)
}

func TestParsePlansErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                             "not a JSON array",
		`{}`:                           "not a JSON array",
		`[] []`:                        "data after the array",
		`[{"rate": 1, "points": 1}]`:   "the name of a plan",
		`[{"name": "a", "points": 1}]`: "rate and points must both be given",
		`[{"name": "a", "rate": 1}]`:   "rate and points must both be given",
		`[{"name": "a\u0007", "rate": 1, "points": 1}]`:                                         "control characters",
		`[{"name": "a", "rate": 0, "points": 1}]`:                                               "the rate 0 is outside",
		`[{"name": "a", "rate": -1, "points": 1}]`:                                              `"-1" is not a limit`,
		`[{"name": "a", "rate": 1.5, "points": 1}]`:                                             `"1.5" is not a limit`,
		`[{"name": "a", "rate": 1000001, "points": 1}]`:                                         "outside 1 to 1000000",
		`[{"name": "a", "rate": 1, "points": 9999999999999}]`:                                   "from 0 to 1000000000000",
		`[{"name": "a", "rate": 1, "points": 99999999999999999999}]`:                            "is not a limit",
		`[{"name": "a", "rate": 1, "points": 1, "stored": -1}]`:                                 "-1 stored bytes",
		`[{"name": "a", "rate": 1, "points": null}]`:                                            "must both be given",
		`[{"name": "a", "rate": 1, "points": 1, "bonus": 3}]`:                                   "bonus",
		`[{"name": "a", "rate": 1, "points": 1}, {"name": "a", "rate": 1, "points": 1}]`:        `plan 2: an earlier plan has the name "a" too`,
		`[` + strings.Repeat(`{"name": "a", "rate": 1, "points": 1},`, 1000) + `{"name": "a"}]`: "more than the limit of 1000",
	} {
		_, err := ParsePlans(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
}

// Plans that parse survive a round trip through JSON.
func FuzzParsePlans(f *testing.F) {
	f.Add(`[{"name":"pro","rate":5,"points":200000,"overage":true}]`) // usual
	f.Add(`[{"name":"x","rate":"unlimited","points":"unlimited"}]`)   // unlimited
	f.Add(`[{"name":"x","rate":1e3,"points":1}]`)                     // a number in another form
	f.Add(`[{"name":"x","rate":"5","points":1}]`)                     // a number in quotes
	f.Add(`[null]`)                                                   // not an object
	f.Fuzz(func(t *testing.T, text string) {
		plans, err := ParsePlans(strings.NewReader(text))
		if err != nil {
			return
		}
		written := must(json.Marshal(plans))(t)
		require.Equal(t, plans, must(ParsePlans(bytes.NewReader(written)))(t))
	})
}

func TestStorePlans(t *testing.T) {
	eachDatabase(t, Terms{}, func(t *testing.T, f *fixture) {
		require.ElementsMatch(t, DefaultPlans(), must(f.Plans(f.ctx))(t), "a new database has the default plans")

		require.NoError(t, f.StorePlans(f.ctx, []Plan{{Name: "free", Rate: 7, Points: 8, Stored: 1}, {Name: "gold", Rate: Unlimited, Points: 9, Overage: true}}))
		plans := must(f.Plans(f.ctx))(t)
		require.Len(t, plans, 4)
		require.Contains(t, plans, Plan{Name: "gold", Rate: Unlimited, Points: 9, Overage: true})
		a := must(f.Account(f.ctx, f.account))(t)
		require.Equal(t, []Limit{7, 8}, []Limit{a.Rate, a.Points}, "a changed plan applies to its accounts")

		err := f.StorePlans(f.ctx, []Plan{{Name: "bad", Rate: 0, Points: 1}})
		require.ErrorContains(t, err, `plan "bad"`)
	})
}
