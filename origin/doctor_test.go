package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
	"github.com/addrspec/addrspec/origin/origintest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

func TestDoctor(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "lists.blob") // the project's own grow old
	require.NoError(t, os.WriteFile(fresh, todaysLists(t), 0o600))
	with := func(dns, module string) []string {
		return []string{"doctor", "--lists", fresh, "--database", emptyLedger(t), "--dns", dns,
			"--dns-timeout", "500ms", "--module", module, "--cache-dir", moduletest.CacheDir()}
	}
	out, err, code := operator(t, with(contract.Serve(t), origintest.ModuleFile(t))...)
	require.Zero(t, code, out+err)
	require.Equal(t, 5, strings.Count(out, " ok "), out)

	out, _, code = operator(t, with("127.0.0.1:1", "no-such-file")...)
	require.Equal(t, 1, code)
	require.Regexp(t, `(?m)^resolver +WRONG`, out)
	require.Regexp(t, `(?m)^module +WRONG +.*no-such-file`, out)
	require.Regexp(t, `(?m)^database +ok`, out)
}

// Lists of two weeks get advice, of half a year an error.
func TestCheckListsAge(t *testing.T) {
	read := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	for age, want := range map[int][2]bool{0: {true, true}, 13: {true, true}, 14: {false, true}, 179: {false, true}, 180: {false, false}} {
		now := read.AddDate(0, 0, age)
		_, aging := checkListsAge("2026.11.20-1a2b3c4d", agingLists, now)
		_, stale := checkListsAge("2026.11.20-1a2b3c4d", staleLists, now)
		require.Equal(t, want, [2]bool{aging == nil, stale == nil}, age)
	}
	_, err := checkListsAge("2026.11.20-1a2b3c4d", agingLists, read.AddDate(1, 0, 0))
	require.ErrorContains(t, err, "365 days old")
	require.ErrorContains(t, err, "addrspec lists update")
	require.ErrorContains(t, err, "./build.sh lists --latest")
	_, err = checkListsAge("0", agingLists, read)
	require.Error(t, err)
	require.Equal(t, "1 day", days(25*time.Hour))
}
