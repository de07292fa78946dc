package main

import (
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
	with := func(dns, module string) []string {
		return []string{"doctor", "--database", "sqlite:" + filepath.Join(t.TempDir(), "a.db"), "--dns", dns,
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

func TestCheckListsAge(t *testing.T) {
	read := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	_, err := checkListsAge("2026.11.20-1a2b3c4d", read.AddDate(0, 1, 0))
	require.NoError(t, err)
	_, err = checkListsAge("2026.11.20-1a2b3c4d", read.AddDate(1, 0, 0))
	require.ErrorContains(t, err, "365 days old")
	_, err = checkListsAge("0", read)
	require.Error(t, err)
}
