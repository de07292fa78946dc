package api

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(body string) (share, *fault) {
	r := httptest.NewRequest("POST", edgePath, strings.NewReader(body))
	r.Header.Set("Content-Type", contentJSON)
	return readShare(r)
}

func TestReadShareRefuses(t *testing.T) {
	for name, c := range map[string]struct{ body, says string }{
		"no JSON":                 {`{`, "The body must be"},
		"an array":                {`[]`, "The body must be"},
		"points a word":           {`{"operation":"batch","points":"1"}`, "The body must be"},
		"points a fraction":       {`{"operation":"batch","points":1.5}`, "The body must be"},
		"no operation":            {`{"points":1}`, "operation must be"},
		"another operation":       {`{"operation":"both","points":1}`, "operation must be"},
		"points below zero":       {`{"operation":"batch","points":-1}`, "points must be 0 to 64"},
		"points over the limit":   {`{"operation":"batch","points":65}`, "points must be 0 to 64"},
		"a single of two":         {`{"operation":"single","points":2}`, "points must be 0 to 1"},
		"no name":                 {`{"operation":"batch","points":1,"domains":[{"addresses":1}]}`, "domains[0].name"},
		"too long a name":         {`{"operation":"batch","points":1,"domains":[{"name":"` + strings.Repeat("a", 254) + `","addresses":1}]}`, "domains[0].name"},
		"nothing hangs on it":     {`{"operation":"batch","points":1,"domains":[{"name":"a","addresses":0}]}`, "domains[0].addresses"},
		"more than points":        {`{"operation":"batch","points":2,"domains":[{"name":"a","addresses":1},{"name":"b","addresses":2}]}`, "domains[1].addresses"},
		"an overflow":             {`{"operation":"batch","points":2,"domains":[{"name":"a","addresses":9223372036854775807},{"name":"b","addresses":9223372036854775807}]}`, "domains[0].addresses"},
		"too many domains":        {`{"operation":"batch","points":64,"domains":[` + strings.Repeat(`{"name":"a","addresses":1},`, 64) + `{"name":"a","addresses":1}]}`, "at most 64"},
		"two domains of a single": {`{"operation":"single","points":1,"domains":[{"name":"a","addresses":1},{"name":"b","addresses":1}]}`, "at most 1"},
		"domains without points":  {`{"operation":"batch","points":0,"domains":[{"name":"a","addresses":1}]}`, "domains[0].addresses"},
	} {
		t.Run(name, func(t *testing.T) {
			given, f := read(c.body)
			require.NotNil(t, f)
			require.Equal(t, "INVALID_REQUEST", f.code)
			require.Contains(t, f.message, c.says)
			require.Zero(t, given.Points, "a bad share costs nothing")
		})
	}
}

func TestReadShareTakes(t *testing.T) {
	for _, body := range []string{
		`{"operation":"single","points":0,"domains":[]}`,
		`{"operation":"single","points":1,"domains":[]}`,
		`{"operation":"batch","points":3,"domains":[{"name":"example.org","addresses":2}],"later":"field"}`,
		`{"operation":"batch","points":64,"domains":[` + strings.Repeat(`{"name":"a","addresses":1},`, 63) + `{"name":"a","addresses":1}]}`,
	} {
		_, f := read(body)
		require.Nil(t, f, body)
	}
}

// FuzzReadShare: whatever is taken stays within the limits, so nothing can be
// given back that was not paid.
func FuzzReadShare(f *testing.F) {
	f.Add(`{"operation":"batch","points":3,"domains":[{"name":"example.org","addresses":2}]}`) // the usual
	f.Add(`{"operation":"single","points":1,"domains":[{"name":"a","addresses":-1}]}`)         // below zero
	f.Add(`{"operation":"batch","points":64,"domains":[{"name":"a","addresses":9223372036854775807},{"name":"b","addresses":1}]}`)
	f.Add(`{"POINTS":64,"operation":"batch"}`) // encoding/json takes names in any case
	f.Fuzz(func(t *testing.T, body string) {
		given, bad := read(body)
		if bad != nil {
			require.Zero(t, given.Points)
			return
		}
		require.LessOrEqual(t, given.Points, int64(maxUnique))
		require.LessOrEqual(t, len(given.Domains), maxUnique)
		left := given.unfinished(make([]item, len(given.Domains)))
		require.GreaterOrEqual(t, left, int64(len(given.Domains)))
		require.LessOrEqual(t, left, given.Points)
	})
}
