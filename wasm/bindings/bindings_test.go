// Package bindings_test builds the package of each language whose tools are
// installed, installs it as a user does, and compares what a program of it prints
// with the results of package core.
package bindings_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// useTestCache makes the programs of t cache machine code in the directory of the
// tests, where old files are deleted, instead of the user's cache directory.
func useTestCache(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", moduletest.CacheDir())
}

// lock waits until no other process has the file locked. The function it returns
// unlocks it.
func lock(t *testing.T, name string) func() {
	t.Helper()
	file, err := os.Create(name)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(file.Fd()), syscall.LOCK_EX))
	return func() { file.Close() }
}

// cache returns the directory for builds that are kept between runs. It skips the
// test if none is set, so that go test fetches engines only on request.
func cache(t *testing.T) string {
	t.Helper()
	leftToCI(t)
	dir := os.Getenv("ADDRSPEC_BINDINGS")
	if dir == "" {
		t.Skip("fetches an engine: set ADDRSPEC_BINDINGS to a directory to build in")
	}
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	return dir
}

// build runs a build command in dir. It skips the test if the registry is
// unreachable.
func build(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if err != nil && unreachable.Match(output) {
		t.Skipf("the registry is unreachable: %s", output)
	}
	if cmd.ProcessState.ExitCode() == missingTool {
		t.Skip(string(output))
	}
	require.NoError(t, err, "%s\n%s", strings.Join(command, " "), output)
}

// missingTool is the exit code of a package.sh that lacks a tool.
const missingTool = 3

// unreachable matches the errors of cargo and Maven without a network.
var unreachable = regexp.MustCompile(`(?i)could not resolve host|failed to download|Could not transfer artifact|Unknown host|network failure`)

// leftToCI skips a test that builds or runs a package of another language, which takes
// too long for the fast layer.
func leftToCI(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
}

// leftToAll skips a test that takes minutes, for this reason.
func leftToAll(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("ADDRSPEC_ALL") == "" {
		t.Skip("left to ./build.sh test all: " + why)
	}
}

// find returns the path of a program, or skips the test.
func find(t *testing.T, program string) string {
	t.Helper()
	leftToCI(t)
	moduletest.Inputs(t, ".", "../../edge")
	const edge = "../../edge/"
	return moduletest.Tool(t, program, edge+"node_modules/.bin/"+program, edge+"runtimes/node_modules/.bin/"+program)
}

// sample is an input of the programs and the results of core for it.
type sample struct {
	addresses []string
	input     string
	want      []string
}

// newSample returns a sample of the addresses in list, terminated by each of ends
// in turn. It leaves out addresses that are empty or contain a character of
// without.
func newSample(list []string, without string, ends ...string) (s sample) {
	var input strings.Builder
	for _, email := range list {
		if email != "" && !strings.ContainsAny(email, without) {
			input.WriteString(email + ends[len(s.addresses)%len(ends)])
			s.addresses = append(s.addresses, email)
		}
	}
	s.input, s.want = input.String(), strings.SplitAfter(results(s.addresses), "\n")
	return s
}

// policySample returns the cases of the vectors of policies: what a program with -p reads,
// and the verdicts or sentences that it prints.
func policySample(t *testing.T) (s sample) {
	t.Helper()
	cases, err := vectors.ReadPolicies("../vectors")
	require.NoError(t, err)
	var input strings.Builder
	for _, c := range cases {
		for _, text := range []string{c.Document, c.Email, fact(c.MX), fact(c.Address), fact(&c.Disposable), strings.Join(c.Exchanges, " ")} {
			require.NotContains(t, text, "\x00")
			input.WriteString(text + "\x00")
		}
		s.addresses = append(s.addresses, c.Document)
		s.want = append(s.want, c.NativeVerdict()+"\n")
	}
	s.input, s.want = input.String(), append(s.want, "")
	return s
}

// placeSample returns policySample for a program that prints the place and the offset of an
// error before its sentence.
func placeSample(t *testing.T) (s sample) {
	t.Helper()
	s = policySample(t)
	cases, err := vectors.ReadPolicies("../vectors")
	require.NoError(t, err)
	for n, c := range cases {
		if c.Error != "" {
			s.want[n] = fmt.Sprintf("%s\t%d\t%s\n", c.Place, c.Offset, c.Error)
		}
	}
	return s
}

func fact(known *bool) string {
	switch {
	case known == nil:
		return ""
	case *known:
		return "1"
	}
	return "0"
}

// withDetails returns the sample with results that have the member details.
func (s sample) withDetails() sample {
	native := vectors.NativeDetails()
	s.want = append([]string(nil), s.want...)
	for n, email := range s.addresses {
		s.want[n] = string(native(email)) + "\n"
	}
	return s
}

// withLists returns the sample with the results of these lists.
func (s sample) withLists(t *testing.T, blob []byte) sample {
	t.Helper()
	opened, err := lists.Open(blob)
	require.NoError(t, err)
	checker := core.New(opened)
	s.want = slices.Clone(s.want)
	for n, email := range s.addresses {
		facts := checker.Check([]byte(email))
		json, _ := core.AppendJSON(nil, &facts, false)
		s.want[n] = string(json) + "\n"
	}
	return s
}

// blobFile writes a blob to a file of its own and returns its path.
func blobFile(t *testing.T, blob []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lists.blob")
	require.NoError(t, os.WriteFile(file, blob, 0o600))
	return file
}

// requireFails requires that command ends with an error that contains why, and
// prints no result.
func requireFails(t *testing.T, why string, command []string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	require.Error(t, err)
	require.Contains(t, stderr.String(), why)
	require.Empty(t, stdout)
}

// requireSame passes the input to command and requires the results of core.
func (s sample) requireSame(t *testing.T, command []string) {
	t.Helper()
	got := strings.SplitAfter(run(t, s.input, command), "\n")
	for n, want := range s.want {
		if n >= len(got) || got[n] != want {
			require.Equal(t, want, append(got, "nothing")[min(n, len(got))], "result %d of %d, for %q", n+1, len(s.addresses), append(s.addresses, "nothing")[n])
		}
	}
	require.Len(t, got, len(s.want))
}

// run runs command with the input and returns its output.
func run(t *testing.T, input string, command []string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8") // the encoding of Java's arguments
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s", &stderr)
	return stdout.String()
}

// results returns the results of core for the addresses, one per line.
func results(list []string) string {
	native, all := vectors.Native(), []byte(nil)
	for _, email := range list {
		all = append(append(all, native(email, false)...), '\n')
	}
	return string(all)
}

// golden returns the addresses of the golden vectors.
func golden(t *testing.T) (list []string) {
	t.Helper()
	files, err := vectors.Read("../vectors")
	require.NoError(t, err)
	for _, file := range files {
		for _, v := range file {
			list = append(list, v.Email)
		}
	}
	return list
}
