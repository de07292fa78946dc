package core

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

// TestCheckOwnsItsFacts: the facts of goroutines that run at once are those of a Checker
// of their own, and later checks do not change them.
func TestCheckOwnsItsFacts(t *testing.T) {
	list := vectors(t)
	got := make([]Facts, len(list))
	var group sync.WaitGroup
	for part := range 8 {
		group.Go(func() {
			for n := part; n < len(list); n += 8 {
				got[n] = Check(list[n].Email)
			}
		})
	}
	group.Wait()
	checker := New(lists.Default())
	for n, v := range list {
		want := checker.Check([]byte(v.Email))
		require.Equal(t, want, got[n], "%+q", v.Email)
		require.Equal(t, string(want.JSON()), string(got[n].JSON()))
	}
}

// TestCloneKeepsNil: what is absent remains absent, and appending to one part does not
// change another.
func TestCloneKeepsNil(t *testing.T) {
	refused := Check("jane.@example.org")
	require.Nil(t, refused.Normalized)
	require.Nil(t, refused.Typo)
	facts := Check("jane@gmial.com")
	before := slices.Clone(facts.Domain)
	facts.LocalPart = append(facts.LocalPart, "overwrites?"...)
	require.Equal(t, string(before), string(facts.Domain))
}

func TestExplain(t *testing.T) {
	for _, email := range []string{"jane@gmial.com", "support@example.org", "jane.@example.org", "", "\xff@example.org"} {
		checker := New(lists.Default())
		facts := checker.Check([]byte(email))
		want, _ := AppendJSON(nil, &facts, false)
		require.Equal(t, string(checker.AppendDetails(want, &facts)), string(Explain(email)))
		require.True(t, json.Valid(Explain(email)))
	}
}

func TestWhy(t *testing.T) {
	valid, refused := Check("jane@example.org"), Check("jane")
	require.Empty(t, valid.Why())
	require.Empty(t, valid.Suggestion())
	require.Contains(t, refused.Why(), "@")
	long := Check(strings.Repeat("a", 2<<20) + "@example.org")
	require.False(t, long.Valid)
	require.Equal(t, "address_too_long", long.Refusal.Reason.Code())
}

// TestCheckAllocates limits what the simple function allocates: the copies of the input
// and of the facts.
func TestCheckAllocates(t *testing.T) {
	Check("jane@example.org")
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { Check("jane@example.org") }), 2.0)
}
