package command

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/command/doctor"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// doctorArgs returns the arguments of a doctor for a deployment without a fault.
func doctorArgs(t *testing.T, more ...string) []string {
	t.Helper()
	fresh := filepath.Join(t.TempDir(), "lists.blob") // the project's own grow old
	require.NoError(t, os.WriteFile(fresh, todaysLists(t), 0o600))
	return append([]string{"doctor", "--lists", fresh, "--database", emptyLedger(t), "--dns", contract.Serve(t), "--dns-timeout", "1m", "--limit", "2m",
		"--dns-with-mx", "mail.example", "--dns-without-mx", "missing.example", "--max-connections", "100",
		"--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir()}, more...)
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	out, err, code := operator(t, doctorArgs(t)...)
	require.Zero(t, code, out+err)
	for _, part := range []string{"database", "disk", "files", "limits", "resolver", "module", "lists"} {
		require.Regexp(t, `(?m)^`+part+` +ok +\S`, out)
	}
	require.Regexp(t, `(?m)^clock +(ok|ADVICE) `, out) // a container's clock may not be synchronised
	require.NotRegexp(t, `(?m)^(feed|service|edge)`, out)

	out, _, code = operator(t, doctorArgs(t, "--dns", "127.0.0.1:1", "--module", "no-such-file", "--max-connections", "100000000")...)
	require.Equal(t, 1, code)
	require.Regexp(t, `(?m)^resolver +WRONG`, out)
	require.Regexp(t, `(?m)^module +WRONG +.*no-such-file`, out)
	require.Regexp(t, `(?m)^limits +WRONG +.*LimitNOFILE`, out)
	require.Regexp(t, `(?m)^database +ok`, out)
}

func TestDoctorForPrograms(t *testing.T) {
	t.Parallel()
	out, _, _ := operator(t, doctorArgs(t, "--to", "json")...)
	var findings []struct{ Part, Status, Detail string }
	require.NoError(t, json.Unmarshal([]byte(out), &findings))
	require.Equal(t, "database", findings[0].Part)
	require.Equal(t, "ok", findings[0].Status)
	for flag, value := range map[string]string{"--public-url": "https://u:hidden@addrspec.example", "--edge-secret": "hidden", "--edge-url": "ftp://x", "--limit": "1h", "--dns-timeout": "0s"} {
		_, problem, code := operator(t, doctorArgs(t, flag, value)...)
		require.Equal(t, 2, code)
		require.Contains(t, problem, flag)
		require.NotContains(t, problem, "hidden")
	}
}

// doctor changes nothing, finds damage, and reports modes that show emails to others.
func TestDoctorOfADamagedFile(t *testing.T) {
	t.Parallel()
	path := strings.TrimPrefix(emptyLedger(t), "sqlite:")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	operator(t, doctorArgs(t, "--database", "sqlite:"+path)...)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, whole, after)

	require.NoError(t, os.Chmod(path, 0o644))
	out, _, code := operator(t, doctorArgs(t, "--database", "sqlite:"+path)...)
	require.Equal(t, 1, code)
	require.Contains(t, out, "chmod 0600 "+path)

	for n := 8192; n < 16384; n++ {
		whole[n] ^= 0x5a
	}
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	out, _, code = operator(t, doctorArgs(t, "--database", "sqlite:"+path)...)
	require.Equal(t, 1, code)
	require.Regexp(t, `(?m)^database +WRONG .*(damaged|malformed).*backup`, out)
}

// A server that does not write, with its password in the URL.
func TestDoctorOfAReadOnlyServer(t *testing.T) {
	t.Parallel()
	url := pgtest.NeedDatabase(t)
	l, err := ledger.Open(t.Context(), url)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	out, _, _ := operator(t, doctorArgs(t, "--database", url)...)
	require.Regexp(t, `(?m)^database +(ok|ADVICE) .*PostgreSQL`, out)
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	out, _, code := operator(t, doctorArgs(t, "--database", url+separator+"default_transaction_read_only=on")...)
	require.Equal(t, 1, code)
	require.Regexp(t, `(?m)^database +WRONG +transactions are read-only`, out)
}

// doctor takes the service's secret to the service, and prints it nowhere.
func TestDoctorOfARunningService(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	s := start(t, "--dns", contract.Serve(t), "--edge-secret", secret)
	out, problem, _ := operator(t, doctorArgs(t, "--database", s.database, "--public-url", "http://"+s.hostPort, "--edge-secret", secret)...)
	require.Regexp(t, `(?m)^service +ok +http://.* is up`, out)
	require.Regexp(t, `(?m)^edge secret +ok `, out)
	require.NotContains(t, out+problem, secret)

	const next = "another" + secret // as while workers change from one to the other
	both := start(t, "--dns", contract.Serve(t), "--edge-secret", secret+","+next)
	out, _, _ = operator(t, doctorArgs(t, "--public-url", "http://"+both.hostPort, "--edge-secret", secret+","+next)...)
	require.Regexp(t, `(?m)^edge secret +ok .*\(2 of 2\)`, out)
	out, _, _ = operator(t, doctorArgs(t, "--public-url", "http://"+s.hostPort, "--edge-secret", secret+","+next)...)
	require.Regexp(t, `(?m)^edge secret +WRONG +secret 2 of 2: `, out)

	out, problem, code := operator(t, doctorArgs(t, "--public-url", "http://"+s.hostPort, "--edge-secret", next)...)
	require.Equal(t, 1, code)
	require.Regexp(t, `(?m)^edge secret +WRONG .*refuses the edge secret`, out)
	require.NotContains(t, out+problem, secret)
}

// A database, a resolver and a service that never respond take no longer than the
// limit.
func TestDoctorEndsInTime(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts in its backlog and says nothing
	require.NoError(t, err)
	defer silent.Close()
	out, _, code := operator(t, doctorArgs(t, "--limit", "1s", "--database", "postgres://u:hidden@"+silent.Addr().String()+"/x",
		"--public-url", "http://"+silent.Addr().String())...)
	require.Equal(t, 1, code)
	require.Regexp(t, `(?m)^database +WRONG`, out)
	require.Regexp(t, `(?m)^service +WRONG`, out)
	require.NotContains(t, out, "hidden")
}

// Lists of two weeks get advice, of half a year an error.
func TestCheckListsAge(t *testing.T) {
	t.Parallel()
	read := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	for age, want := range map[int][2]bool{0: {true, true}, 13: {true, true}, 14: {false, true}, 179: {false, true}, 180: {false, false}} {
		now := read.AddDate(0, 0, age)
		_, aging := service.CheckListsAge("2026.11.20-1a2b3c4d", service.AgingLists, now)
		_, stale := service.CheckListsAge("2026.11.20-1a2b3c4d", service.StaleLists, now)
		require.Equal(t, want, [2]bool{aging == nil, stale == nil}, age)
	}
	_, err := service.CheckListsAge("2026.11.20-1a2b3c4d", service.AgingLists, read.AddDate(1, 0, 0))
	require.ErrorContains(t, err, "365 days old")
	require.ErrorContains(t, err, "addrspec lists update")
	require.ErrorContains(t, err, "./build.sh lists --latest")
	_, err = service.CheckListsAge("0", service.AgingLists, read)
	require.Error(t, err)
	require.Equal(t, "1 day", service.Days(25*time.Hour))
}

// The handbook has a row for each part, in the order in which they are printed.
func TestDoctorPageNamesEveryPart(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../deploy/doctor.md")
	require.NoError(t, err)
	var named, checked []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z ]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		named = append(named, row[1])
	}
	checks, err := new(doctorCmd).checksOf()
	require.NoError(t, err)
	for _, c := range checks {
		checked = append(checked, c.Name)
	}
	require.Equal(t, checked, named)
}

// checksOf returns the checks of a doctor with usual times.
func (c *doctorCmd) checksOf() ([]doctor.Check, error) {
	c.DNSTimeout, c.Limit = time.Second, time.Second
	return c.checks()
}
