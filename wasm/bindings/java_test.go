package bindings_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// javaFlags make the JVM stop at the first tier of its JIT compiler, which halves
// the processor time of these runs, and use a collector without threads.
var javaFlags = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}

// javaExample returns the command that runs the example, which is built as a user
// would: in a folder of its own, with the artifact of package.sh as its dependency.
func javaExample(t *testing.T) []string {
	t.Helper()
	jar := filepath.Join(javaBuilt(t), "example", "target", "check.jar")
	return slices.Concat([]string{find(t, "java")}, javaFlags, []string{"-jar", jar})
}

// javaBuilt returns the folder with the artifact and the example. They are built
// once for each state of their sources, the module and the JDK.
func javaBuilt(t *testing.T) string {
	t.Helper()
	find(t, "java")
	all := filepath.Join(cache(t), "java")
	require.NoError(t, os.MkdirAll(all, 0o755))
	defer lock(t, filepath.Join(all, "lock"))()
	dir := filepath.Join(all, javaDigest(t))
	if _, err := os.Stat(filepath.Join(dir, "done")); err == nil {
		return dir
	}
	require.NoError(t, os.RemoveAll(dir))
	javaPackage(t, "java", dir)
	javaInstall(t, dir, filepath.Join(all, "repository"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "done"), nil, 0o600))
	return dir
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

// javaDigest returns a digest of all that determines the artifact and the example.
func javaDigest(t *testing.T) string {
	t.Helper()
	hash := sha256.New()
	for _, name := range gitFiles(t, "java") {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		fmt.Fprintf(hash, "%s %d %s", name, len(content), content)
	}
	hash.Write(moduletest.Bytes(t))
	version, err := exec.Command(find(t, "mvn"), "--version").Output() // and the JDK's
	require.NoError(t, err)
	hash.Write(version)
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// gitFiles returns the files in dir without what builds leave behind.
func gitFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "target" {
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// javaPackage runs package.sh of the folder source.
func javaPackage(t *testing.T, source, out string) {
	t.Helper()
	find(t, "mvn")
	find(t, "javac")
	wasm := filepath.Join(t.TempDir(), "addrspec.wasm")
	require.NoError(t, os.WriteFile(wasm, moduletest.Bytes(t), 0o600))
	t.Setenv("ADDRSPEC_MODULE", wasm)
	build(t, source, "./package.sh", out)
}

// javaInstall builds the example in dir with the artifact in dir, as a user would
// in a folder of his own. Maven keeps what it installs in repository. It would
// take an older build of the same version from there, so that goes first.
func javaInstall(t *testing.T, dir, repository string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(filepath.Join(repository, "io", "github", "addrspec")))
	example := filepath.Join(dir, "example")
	require.NoError(t, os.CopyFS(example, os.DirFS("java/example")))
	build(t, example, find(t, "mvn"), "--batch-mode", "--quiet", "package",
		"-Daddrspec.repository=file://"+filepath.Join(dir, "maven"), "-Dmaven.repo.local="+repository)
}

// The installed artifact gives the bytes of core, in bulk and one by one, with
// details and with newer lists.
func TestJavaPackageMatchesCore(t *testing.T) {
	command := javaExample(t)
	list := append(golden(t), vectors.Generate(6, 50_000)...)
	all := newSample(list, "\x00", "\x00")
	t.Run("in bulk", func(t *testing.T) { all.requireSame(t, append(command, "-0")) })
	t.Run("one by one", func(t *testing.T) { all.requireSame(t, append(command, "-0", "-1")) })
	t.Run("lines with details", func(t *testing.T) {
		lines := newSample(list[:2500], "\r\n\x00", "\n", "\r\n").withDetails()
		lines.requireSame(t, append(command, "-d"))
	})
	t.Run("arguments", func(t *testing.T) {
		addresses := []string{"jane@example.org", "josé@bücher.example"}
		require.Equal(t, results(addresses), run(t, "", append(command, addresses...)))
	})
}

// It takes newer lists over, and refuses damaged ones.
func TestJavaPackageWithNewerLists(t *testing.T) {
	command := append(javaExample(t), "-l")
	blob := moduletest.NewerLists(t)
	const swapped = "jane@" + moduletest.Swapped
	s := newSample(append([]string{swapped}, vectors.Generate(7, 500)...), "\x00", "\x00").withLists(t, blob)
	require.Contains(t, s.want[0], `"public":true`)
	s.requireSame(t, append(command, blobFile(t, blob), "-0"))
	s.requireSame(t, append(command, blobFile(t, blob), "-0", "-1"))
	requireFails(t, "the blob is damaged: its parts do not add up to its size", append(command, blobFile(t, blob[:len(blob)-1]), swapped))
	requireFails(t, "the lists are larger than 4 MiB", append(command, blobFile(t, make([]byte, 4<<20+1)), swapped))
}
