package command

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is shipped does not believe a resolver that lies.
func TestShippedConfigurationsAreStrict(t *testing.T) {
	t.Parallel()
	for file, setting := range map[string]string{
		"addrspec.service": "\nEnvironment=ADDRSPEC_DNS_STRICT=true\n",
		"compose.yaml":     "\n    ADDRSPEC_DNS_STRICT: \"true\"\n",
		"Dockerfile":       "    ADDRSPEC_DNS_STRICT=true\n",
	} {
		content, err := os.ReadFile("../deploy/" + file)
		require.NoError(t, err)
		require.Contains(t, string(content), setting, file)
	}
}

var exposure = regexp.MustCompile(`Overall exposure level for addrspec\.service: ([0-9.]+)`)

// systemd accepts the unit without a remark, and finds it as closed as the handbook
// says.
func TestUnitIsValid(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("skipped: systemd-analyze is not installed; Debian's package systemd has it")
	}
	self, err := os.Executable() // verify requires that the program exists
	require.NoError(t, err)
	file := t.TempDir() + "/addrspec.service"
	require.NoError(t, os.WriteFile(file, []byte(replaced(t, "../deploy/addrspec.service", "/usr/local/bin/addrspec", self)), 0o600))
	out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "addrspec.service")

	out, err = exec.Command(analyze, "security", "--offline=yes", "--no-pager", file).CombinedOutput()
	require.NoError(t, err, string(out))
	found := exposure.FindStringSubmatch(string(out))
	require.NotNil(t, found, string(out))
	level, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	require.Less(t, level, 2.0)
}
