package api

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/wasm/host"
)

func TestReadEdgeRequestErrors(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"not JSON":                {`{`, "The body must be"},
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
		"no addresses":            {`{"operation":"batch","points":1,"domains":[{"name":"a","addresses":0}]}`, "domains[0].addresses"},
		"more than points":        {`{"operation":"batch","points":2,"domains":[{"name":"a","addresses":1},{"name":"b","addresses":2}]}`, "domains[1].addresses"},
		"an overflow":             {`{"operation":"batch","points":2,"domains":[{"name":"a","addresses":9223372036854775807},{"name":"b","addresses":9223372036854775807}]}`, "domains[0].addresses"},
		"too many domains":        {`{"operation":"batch","points":64,"domains":[` + strings.Repeat(`{"name":"a","addresses":1},`, 64) + `{"name":"a","addresses":1}]}`, "at most 64"},
		"two domains of a single": {`{"operation":"single","points":1,"domains":[{"name":"a","addresses":1},{"name":"b","addresses":1}]}`, "at most 1"},
		"a tally below zero":      {`{"operation":"batch","points":1,"tally":{"valid":-1}}`, "tally must"},
		"a tally over its points": {`{"operation":"batch","points":1,"tally":{"valid":1,"invalid":1}}`, "tally must"},
		"a tally without rest":    {`{"operation":"batch","points":1,"tally":{"role":1},"domains":[{"name":"a","addresses":1}]}`, "tally must"},
		"a domain's tally":        {`{"operation":"batch","points":3,"domains":[{"name":"a","addresses":1,"tally":{"typo":2}}]}`, "domains[0].tally"},
		"a domain's valid":        {`{"operation":"batch","points":3,"domains":[{"name":"a","addresses":1,"tally":{"valid":1,"invalid":1}}]}`, "domains[0].tally"},
		"a tally that overflows":  {`{"operation":"batch","points":3,"tally":{"valid":9223372036854775807,"invalid":9223372036854775807}}`, "tally must"},
		"a tally of words":        {`{"operation":"batch","points":3,"tally":{"valid":"1"}}`, "The body must be"},
		"a tally of a fraction":   {`{"operation":"batch","points":3,"tally":{"valid":0.5}}`, "The body must be"},
		"a tally as an array":     {`{"operation":"batch","points":3,"tally":[]}`, "The body must be"},
		"domains without points":  {`{"operation":"batch","points":0,"domains":[{"name":"a","addresses":1}]}`, "domains[0].addresses"},
	} {
		t.Run(name, func(t *testing.T) {
			given, p := decodeEdgeRequest([]byte(c.body))
			require.NotNil(t, p)
			require.Equal(t, "INVALID_REQUEST", p.Name)
			require.Contains(t, p.Message, c.want)
			require.Zero(t, given.Points, "an invalid request costs nothing")
		})
	}
}

func TestReadEdgeRequest(t *testing.T) {
	for _, body := range []string{
		`{"operation":"single","points":0,"domains":[]}`,
		`{"operation":"single","points":1,"domains":[]}`,
		`{"operation":"batch","points":3,"domains":[{"name":"example.org","addresses":2}],"later":"field"}`,
		`{"operation":"batch","points":3,"tally":{"valid":0,"invalid":1,"later":"member"},"domains":[{"name":"a","addresses":2,"tally":{"valid":2,"role":2,"typo":2}}]}`,
		`{"operation":"batch","points":1,"tally":null,"domains":[{"name":"a","addresses":1,"tally":null}]}`,
		`{"operation":"batch","points":64,"domains":[` + strings.Repeat(`{"name":"a","addresses":1},`, 63) + `{"name":"a","addresses":1}]}`,
	} {
		_, p := decodeEdgeRequest([]byte(body))
		require.Nil(t, p, body)
	}
}

func TestEdgeOutcome(t *testing.T) {
	given, p := decodeEdgeRequest([]byte(`{"operation":"batch","points":10,"tally":{"valid":1,"invalid":2},"domains":[
		{"name":"a","addresses":3,"tally":{"valid":3,"public":3,"role":1}},
		{"name":"b","addresses":2,"tally":{"valid":2,"disposable":2,"gibberish":1}},
		{"name":"c","addresses":2,"tally":{"valid":2,"relay":2,"typo":2}}]}`))
	require.Nil(t, p)
	finished, failed := lookup{finished: true, found: host.Lookup{MX: true}}, lookup{finished: true, err: errors.New("x")}
	without, unfinished := lookup{finished: true}, lookup{}
	for name, c := range map[string]struct {
		lookups []lookup
		burner  int // the domain with temporary exchanges; -1 for none
		points  int64
		found   book.Found
		want    string // response
	}{
		"all":     {[]lookup{finished, finished, without}, -1, 10, book.Found{Valid: 8, Invalid: 2, Public: 3, Role: 1, Disposable: 2, Gibberish: 1, Relay: 2, Typo: 2}, `{"mx":[true,true,false],"partial":false}`},
		"failed":  {[]lookup{failed, finished, finished}, -1, 10, book.Found{Valid: 5, Invalid: 2, LookupErrors: 3, Disposable: 2, Gibberish: 1, Relay: 2, Typo: 2}, `{"mx":["DNS_FAILURE",true,true],"partial":false}`},
		"partial": {[]lookup{finished, unfinished, failed}, -1, 8, book.Found{Valid: 4, Invalid: 2, LookupErrors: 2, Public: 3, Role: 1}, `{"mx":[true,null,"DNS_FAILURE"],"partial":true}`},
		"burner":  {[]lookup{finished, finished, without}, 0, 10, book.Found{Valid: 8, Invalid: 2, Public: 3, Role: 1, Disposable: 5, Gibberish: 1, Relay: 2, Typo: 2}, `{"mx":[true,true,false],"partial":false,"disposable":[true,false,false]}`},
		"nothing": {[]lookup{unfinished, unfinished, unfinished}, -1, 3, book.Found{Valid: 1, Invalid: 2}, `{"mx":[null,null,null],"partial":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			exchanges := make([]host.Exchange, len(c.lookups))
			if c.burner >= 0 {
				exchanges[c.burner].Temporary = true
			}
			points, found, response := given.outcome(c.lookups, exchanges)
			require.Equal(t, c.points, points)
			require.Equal(t, c.found, found)
			require.Equal(t, c.want, string(wire.Encode(response)))
		})
	}
	given.Details, given.Domains[0].Classed = true, true
	_, _, response := given.outcome([]lookup{finished, failed, without}, []host.Exchange{{Temporary: true, JSON: `{"class":"<&>"}`}, {}, {JSON: "null"}})
	require.Equal(t, `{"mx":[true,"DNS_FAILURE",false],"partial":false,"exchange":[{"class":"<&>"},null,null]}`, string(wire.Encode(response)))
}

// FuzzReadEdgeRequest checks that an accepted request is within the limits, and
// that no more addresses are counted than charged.
func FuzzReadEdgeRequest(f *testing.F) {
	f.Add(`{"operation":"batch","points":3,"domains":[{"name":"example.org","addresses":2}]}`, uint64(0)) // usual
	f.Add(`{"operation":"single","points":1,"domains":[{"name":"a","addresses":-1}]}`, uint64(1))         // below zero
	f.Add(`{"operation":"batch","points":64,"domains":[{"name":"a","addresses":9223372036854775807},{"name":"b","addresses":1}]}`, uint64(2))
	f.Add(`{"operation":"batch","points":2,"tally":{"valid":1},"domains":[{"name":"a","addresses":1,"tally":{"valid":1,"role":1}}]}`, uint64(1))
	f.Add(`{"operation":"batch","points":2,"tally":{"valid":9223372036854775807,"invalid":9223372036854775807}}`, uint64(1))
	f.Add(`{"POINTS":64,"operation":"batch"}`, uint64(3)) // encoding/json takes names in any case
	f.Fuzz(func(t *testing.T, body string, finished uint64) {
		given, bad := decodeEdgeRequest([]byte(body))
		if bad != nil {
			require.Zero(t, given.Points)
			return
		}
		require.LessOrEqual(t, given.Points, int64(maxUnique))
		require.LessOrEqual(t, len(given.Domains), maxUnique)
		lookups, exchanges := make([]lookup, len(given.Domains)), make([]host.Exchange, len(given.Domains))
		for n := range lookups {
			lookups[n].finished = finished>>(n%64)&1 == 1
			exchanges[n].Temporary = finished>>(n%61)&1 == 1
		}
		points, found, _ := given.outcome(lookups, exchanges)
		require.GreaterOrEqual(t, points, int64(0))
		require.LessOrEqual(t, points, given.Points)
		for _, n := range []int64{found.Valid + found.Invalid + found.LookupErrors, found.Disposable, found.Public,
			found.Relay, found.Role, found.Gibberish, found.Typo} {
			require.GreaterOrEqual(t, n, int64(0))
			require.LessOrEqual(t, n, points)
		}
	})
}
