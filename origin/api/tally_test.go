package api

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// slowTally returns what foundIn should count, using encoding/json.
func slowTally(t testing.TB, found *host.Facts) (f book.Found) {
	var facts struct {
		Valid, Disposable, Public, Relay, Gibberish, Typo bool
		Role                                              *string
	}
	require.NoError(t, json.Unmarshal(found.JSON, &facts))
	one := map[bool]int64{true: 1}
	return book.Found{Valid: one[facts.Valid], Invalid: one[!facts.Valid], Disposable: one[facts.Disposable], Public: one[facts.Public],
		Relay: one[facts.Relay], Role: one[facts.Role != nil], Gibberish: one[facts.Gibberish], Typo: one[facts.Typo]}
}

func requireCounted(t testing.TB, email string) (f book.Found) {
	found, err := testEngine(t).Check(context.Background(), nil, email, 0)
	require.NoError(t, err)
	f = foundIn([]*item{{facts: found}})
	require.Equal(t, slowTally(t, &found), f, "%q", email)
	return f
}

func TestFoundIn(t *testing.T) {
	var sum book.Found
	add := func(f book.Found) {
		sum.Valid, sum.Invalid, sum.Disposable, sum.Public = sum.Valid+f.Valid, sum.Invalid+f.Invalid, sum.Disposable+f.Disposable, sum.Public+f.Public
		sum.Relay, sum.Role, sum.Gibberish, sum.Typo = sum.Relay+f.Relay, sum.Role+f.Role, sum.Gibberish+f.Gibberish, sum.Typo+f.Typo
	}
	for _, email := range []string{"", "jane@example.org", "info@mailinator.com", "jane@gmail.com", "jane@gmial.com", "xkqzvbnw8372@example.org",
		"a@privaterelay.appleid.com", `",\"role\":\"Admin\""@example.org`, `",\"typo\":true"@example.org`, `"\",\"relay\":"@gmail.com`} {
		add(requireCounted(t, email))
	}
	require.Positive(t, min(sum.Valid, sum.Invalid, sum.Disposable, sum.Public, sum.Relay, sum.Role, sum.Gibberish, sum.Typo), "%+v", sum)
	for _, email := range vectors.Generate(1, 2000) {
		requireCounted(t, email)
	}
}

func FuzzFoundIn(f *testing.F) {
	f.Add(`info,"role":"x"@mailinator.com`)        // not a quoted string
	f.Add(`",\"gibberish\":true"@gmial.com`)       // names inside a string
	f.Add("jane@example.org")                      // usual
	f.Add(strings.Repeat("a", 300) + "@gmail.com") // not valid
	f.Fuzz(func(t *testing.T, email string) { requireCounted(t, email) })
}
