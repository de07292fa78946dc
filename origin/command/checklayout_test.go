package command

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// The same file gives the same columns and rows in this process and through a service.
// Offline the column mx is empty, and all others are the same. Package browser compares
// the page Lists.
func TestCheckHasOneLayout(t *testing.T) {
	t.Parallel()
	dns := contract.Serve(t)
	s := start(t, "--dns", dns)
	key := s.newKey(t)
	for _, list := range origintest.Lists(t, "../check/input/testdata/crossing.json") {
		t.Run(list.Name, func(t *testing.T) {
			file := fileOf(t, list.File, string(list.Content))
			local, problem, code := runCheck(t, nil, file, "--to", "csv", "--offline=false", "--dns", dns)
			require.Contains(t, []int{0, 1}, code, problem)
			through, problem, again := s.checkThrough(t, key, "", file, "--to", "csv")
			require.Equal(t, code, again, problem)
			require.Equal(t, local, through)
			offline, _, _ := runCheck(t, nil, file, "--to", "csv")
			require.Equal(t, withoutMX(t, local), withoutMX(t, offline))
		})
	}
}

// A key's default policy and the same document in a file give the same lines.
func TestCheckHasTheVerdictsOfTheService(t *testing.T) {
	t.Parallel()
	const document = `{"block": {"domains": ["no-mx.example"], "reasons": ["disposable", "no_mail"]}, "review": {"reasons": ["no_mx", "role"]}}`
	dns := contract.Serve(t)
	s := start(t, "--dns", dns)
	_, account := s.limitedKey(t, ledger.Unlimited)
	_, err := s.ledger.SetPolicy(t.Context(), account, "sign-up", document)
	require.NoError(t, err)
	key, _, err := s.ledger.CreateKey(t.Context(), account, "sign-up", ledger.KeyTerms{Policy: "sign-up"})
	require.NoError(t, err)
	policy := fileOf(t, "policy.json", document)
	list := fileOf(t, "list.txt", "jane@mail.example\ninfo@mail.example\na..b@mail.example\njane@mailinator.com\njane@missing.example\njane@servfail.example\njane@[192.0.2.1]\n")
	for _, flags := range [][]string{{"--to", "ndjson"}, {"--to", "ndjson", "--details", "--keep"}} {
		local, problem, code := runCheck(t, nil, append(flags, list, "--policy", policy, "--offline=false", "--dns", dns)...)
		require.Zero(t, code, problem)
		through, problem, code := s.checkThrough(t, key, "", append(flags, list)...)
		require.Zero(t, code, problem)
		require.Equal(t, local, through)
		require.Equal(t, 6, strings.Count(through, `,"verdict":{"action":`), through)
	}
}

// withoutMX returns the rows without the column mx.
func withoutMX(t *testing.T, text string) [][]string {
	first, _, _ := strings.Cut(text, "\n")
	reader := csv.NewReader(strings.NewReader(text))
	reader.FieldsPerRecord, reader.Comma = -1, ','
	for _, comma := range ";\t|" {
		if strings.Count(first, string(comma)) > 10 {
			reader.Comma = comma
		}
	}
	rows, err := reader.ReadAll()
	require.NoError(t, err)
	ours := slices.IndexFunc(rows[0], func(name string) bool { return strings.HasSuffix(name, "typo_suggestion") })
	mx := ours - 5
	require.True(t, strings.HasSuffix(rows[0][mx], "mx"))
	for n := range rows {
		rows[n] = slices.Delete(rows[n], mx, mx+1)
	}
	return rows
}
