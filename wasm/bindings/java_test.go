package bindings_test

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
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
	deleteOld(t, all)
	require.NoError(t, os.RemoveAll(dir))
	javaPackage(t, "java", dir)
	javaInstall(t, dir, filepath.Join(all, "repository"))
	javaTests(t, filepath.Join(dir, "tests"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "done"), nil, 0o600))
	return dir
}

// deleteOld deletes the builds that no run has made for a week.
func deleteOld(t *testing.T, all string) {
	t.Helper()
	entries, err := os.ReadDir(all)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && len(e.Name()) == hex.EncodedLen(digestSize) && time.Since(info.ModTime()) > 7*24*time.Hour {
			require.NoError(t, os.RemoveAll(filepath.Join(all, e.Name())))
		}
	}
}

// digestSize is the size in bytes of the digest that names a build.
const digestSize = 8

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
	return hex.EncodeToString(hash.Sum(nil)[:digestSize])
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
	t.Setenv("SOURCE_DATE_EPOCH", "1790000000")
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

// javaTests compiles the unit tests, without running them, and copies what they
// need to dir/lib.
func javaTests(t *testing.T, dir string) {
	t.Helper()
	wasm := filepath.Join(t.TempDir(), "addrspec.wasm")
	require.NoError(t, os.WriteFile(wasm, moduletest.Bytes(t), 0o600))
	build(t, "java", find(t, "mvn"), "--batch-mode", "--quiet", "test-compile", "dependency:copy-dependencies",
		"-Dmodule="+wasm, "-Dtarget="+dir, "-DincludeScope=test", "-DoutputDirectory="+filepath.Join(dir, "lib"))
}

// The unit tests pass with the installed jar.
func TestJavaUnits(t *testing.T) {
	dir := javaBuilt(t)
	classes := filepath.Join(dir, "tests", "test-classes")
	path := strings.Join([]string{classes, filepath.Join(dir, "example/target/lib/*"), filepath.Join(dir, "tests/lib/*")}, ":")
	fragile := filepath.Join(t.TempDir(), "fragile.wasm")
	require.NoError(t, os.WriteFile(fragile, moduletest.Fragile(t), 0o600))
	output := run(t, "", slices.Concat([]string{find(t, "java")}, javaFlags, []string{
		"-Dfragile=" + fragile, "-Dlists=" + blobFile(t, moduletest.NewerLists(t)), "-cp", path,
		"org.junit.platform.console.ConsoleLauncher", "execute", "--scan-classpath=" + classes,
		"--disable-banner", "--fail-if-no-tests", "--details=summary"}))
	require.Regexp(t, `[1-9]\d+ tests successful`, output)
	require.Contains(t, output, " 0 tests skipped")
}

// The same sources in another folder, with other permissions, give the same files.
func TestJavaPackageIsReproducible(t *testing.T) {
	dir := javaBuilt(t)
	again := filepath.Join(dir, "again")
	if _, err := os.Stat(again); err != nil {
		root := t.TempDir()
		source := filepath.Join(root, "wasm", "bindings", "java")
		require.NoError(t, os.CopyFS(source, os.DirFS("java")))
		require.NoError(t, os.Chmod(filepath.Join(source, "package.sh"), 0o755))
		require.NoError(t, os.Chmod(filepath.Join(source, "pom.xml"), 0o600))
		license, err := os.ReadFile("../../LICENSE")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(root, "LICENSE"), license, 0o600))
		javaPackage(t, source, filepath.Join(root, "out"))
		require.NoError(t, os.CopyFS(again, os.DirFS(filepath.Join(root, "out"))))
	}
	files := gitFiles(t, filepath.Join(dir, "maven"))
	require.Len(t, files, 8)
	for _, file := range files {
		name, err := filepath.Rel(dir, file)
		require.NoError(t, err)
		require.Equal(t, digestOf(t, file), digestOf(t, filepath.Join(again, name)), name)
	}
}

func digestOf(t *testing.T, name string) [sha256.Size]byte {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return sha256.Sum256(content)
}

// Java 11 can load every class of the artifact and its dependencies.
func TestJavaPackageIsForJava11(t *testing.T) {
	jars, err := filepath.Glob(filepath.Join(javaBuilt(t), "example/target/lib/*.jar"))
	require.NoError(t, err)
	require.Len(t, jars, 3)
	for _, jar := range jars {
		requireJava11(t, jar)
	}
	java := os.Getenv("ADDRSPEC_JAVA11")
	if java == "" {
		t.Skip("set ADDRSPEC_JAVA11 to the java of a JRE 11 to run the artifact with it")
	}
	golden := newSample(golden(t), "\x00", "\x00")
	golden.requireSame(t, append(slices.Concat([]string{java}, javaExample(t)[1:]), "-0"))
}

// requireJava11 requires that no class file in jar has a later version than 55,
// Java 11's (Java Virtual Machine Specification section 4.1).
func requireJava11(t *testing.T, jar string) {
	t.Helper()
	archive, err := zip.OpenReader(jar)
	require.NoError(t, err)
	defer archive.Close()
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, ".class") && !strings.HasPrefix(f.Name, "META-INF/versions/") {
			content, err := f.Open()
			require.NoError(t, err)
			var head [8]byte
			_, err = io.ReadFull(content, head[:])
			require.NoError(t, err)
			require.LessOrEqual(t, binary.BigEndian.Uint16(head[6:]), uint16(55), f.Name)
		}
	}
}

// The enums have the codes and the roles of package core, in its order.
func TestJavaEnumsMatchCore(t *testing.T) {
	var codes, roles []string
	for r := core.Reason(1); reasonCode(r) != ""; r++ {
		codes = append(codes, strings.ToUpper(reasonCode(r)))
	}
	for r := core.Admin; r.IsRole(); r++ {
		roles = append(roles, r.String())
	}
	require.Greater(t, len(codes), 50)
	require.Equal(t, append(codes, "OTHER"), matches(t, "RefusalCode.java", `(?m)^  ([A-Z0-9_]+)[,;]$`))
	require.Equal(t, append(roles, ""), matches(t, "Role.java", `(?m)^  [A-Z_]+\("(.*)"\)`))
}

// reasonCode returns the code of a reason, or nothing after the last one.
func reasonCode(r core.Reason) (code string) {
	defer func() { _ = recover() }()
	return r.Code()
}

// matches returns what the group of pattern matches in a source of the library.
func matches(t *testing.T, file, pattern string) (list []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("java/src/main/java/io/github/addrspec", file))
	require.NoError(t, err)
	for _, match := range regexp.MustCompile(pattern).FindAllSubmatch(source, -1) {
		list = append(list, string(match[1]))
	}
	return list
}

// The manifests have the version of package core.
func TestJavaVersion(t *testing.T) {
	for _, file := range []string{"java/pom.xml", "java/example/pom.xml"} {
		pom, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(pom), "<artifactId>addrspec</artifactId>\n", file)
		require.Regexp(t, `<artifactId>addrspec</artifactId>\s+<version>`+regexp.QuoteMeta(core.Version)+`</version>`, string(pom), file)
	}
	changes, err := os.ReadFile("java/CHANGELOG.md")
	require.NoError(t, err)
	require.Contains(t, string(changes), "\n## "+core.Version+"\n")
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
