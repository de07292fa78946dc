package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
)

// appendSubject appends a subject of addrspec_decide.
func appendSubject(dst []byte, facts, found uint32, host, address string, exchanges ...string) []byte {
	return append(appendRecord(dst, facts, 0, found, host), frames(address, string(frames(exchanges...)))...)
}

// isOld reports whether a policy has no members that came with addrspec_decide.
func isOld(document string) bool {
	return !strings.Contains(document, "addresses") && !strings.Contains(document, "exchanges")
}

// addrspec_verdict refuses a policy that it would apply in part, and names the member.
func TestVerdictRefusesPolicy(t *testing.T) {
	g := start(t)
	record := appendRecord(nil, 1|4, 0, 0, "a.example")
	for document, member := range map[string]string{
		`{"block":{"addresses":["jane@a.example"]}}`:                                         "addresses",
		`{"allow":{"exchanges":["mx.a.example"]}}`:                                           "exchanges",
		`{"review":{"exchanges":["mx.a.example"]},"block":{"addresses":["jane@a.example"]}}`: "addresses",
		`{"review":{"exchanges":[],"addresses":[]}}`:                                         "",
	} {
		require.Zero(t, g.load(t, 2, document, 99))
		for _, policy := range []int32{2, g.handle(t, document)} {
			code := g.call(t, "verdict", policy, g.write(record))
			if member == "" {
				require.Positive(t, code)
				continue
			}
			require.EqualValues(t, oldCall, code)
			require.Equal(t, "the policy has "+member+", which addrspec_verdict does not know; call addrspec_decide", g.sentence(t))
		}
	}
}

// Policies that are loaded, by slot and by handle, compare addresses by new lists once these are
// installed.
func TestPoliciesFollowLists(t *testing.T) {
	g := start(t)
	document := `{"block":{"addresses":["jane.doe@gmail.com"]}}`
	require.Zero(t, g.load(t, 0, document, 99))
	handle := g.handle(t, document)
	dotted := appendSubject(nil, 1|4, 0, "gmail.com", "janedoe@gmail.com")
	dashed := appendSubject(nil, 1|4, 0, "gmail.com", "jane_.doe@gmail.com")
	blocked, allowed := `{"action":"block","reason":"address","rule":"block.addresses[0]"}`, `{"action":"allow","reason":null,"rule":null}`
	for range 2 {
		for _, policy := range []int32{0, handle} {
			require.Equal(t, []string{blocked, allowed}, g.verdictsOf(t, "decide", policy, append(dotted, dashed...)))
		}
		require.Zero(t, g.pass(t, string(feedtest.Edited(lists.Blob(), "gmail\t+\t.\t", "gmail\t+\t_\t")), 1<<20, "lists"))
		for _, policy := range []int32{0, handle} {
			require.Equal(t, []string{allowed, blocked}, g.verdictsOf(t, "decide", policy, append(dotted, dashed...)))
		}
		require.Equal(t, handle, g.handle(t, document), "it is loaded")
		require.Zero(t, g.pass(t, string(lists.Blob()), 1<<20, "lists"))
	}
}
