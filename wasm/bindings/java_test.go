package bindings_test

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// javaFlags make the JVM stop at the first tier of its JIT compiler, which halves
// the processor time of these runs, and use a collector without threads.
var javaFlags = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}

// javaExample returns the command that runs the example, which is built as a user
// would: in a directory of its own, with the artifact of package.sh as its dependency.
func javaExample(t *testing.T) []string {
	t.Helper()
	jar := filepath.Join(javaBuilt(t), "example", "target", "check.jar")
	return slices.Concat([]string{find(t, "java")}, javaFlags, []string{"-jar", jar})
}

// The installed artifact gives the bytes of core.
func TestJavaPackage(t *testing.T) {
	command := javaExample(t)
	pack{many: command, single: with(command, "-1")}.requireSameBytes(t)
	placeSample(t).requireSame(t, with(command, "-p"))
}

// javaBuilt returns the directory with the artifact, the example and the unit tests.
func javaBuilt(t *testing.T) string {
	t.Helper()
	find(t, "java")
	version, err := exec.Command(find(t, "mvn"), "--version").Output() // and the JDK's
	require.NoError(t, err)
	license := string(readBytes(t, "../../LICENSE"))
	return builtOnce(t, "java", func(directory string) {
		t.Setenv("SOURCE_DATE_EPOCH", "1790000000")
		buildPackage(t, "java", directory)
		javaInstall(t, directory, filepath.Join(cache(t), "java", "repository"))
		javaTests(t, filepath.Join(directory, "tests"))
	}, string(version), license)
}

// javaInstall builds the example in dir with the artifact in dir, as a user would
// in a directory of their own. Maven keeps what it installs in repository. It would
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
	fragile, older := filepath.Join(t.TempDir(), "fragile.wasm"), filepath.Join(t.TempDir(), "older.wasm")
	require.NoError(t, os.WriteFile(fragile, moduletest.Fragile(t), 0o600))
	require.NoError(t, os.WriteFile(older, moduletest.Older(t), 0o600))
	output := run(t, "", slices.Concat([]string{find(t, "java")}, javaFlags, []string{
		"-Dfragile=" + fragile, "-Dolder=" + older, "-Dlists=" + blobFile(t, moduletest.NewerLists(t)), "-cp", path,
		"org.junit.platform.console.ConsoleLauncher", "execute", "--scan-classpath=" + classes,
		"--disable-banner", "--fail-if-no-tests", "--details=summary"}))
	require.Regexp(t, `[1-9]\d+ tests successful`, output)
	require.Contains(t, output, " 0 tests skipped")
}

// The same sources in another directory, with other permissions, give the same files.
func TestJavaPackageIsReproducible(t *testing.T) {
	dir := javaBuilt(t)
	again := filepath.Join(dir, "again")
	if _, err := os.Stat(again); err != nil {
		javaPackageElsewhere(t, again)
	}
	files, err := filepath.Glob(filepath.Join(dir, "maven/io/github/addrspec/addrspec/*/*"))
	require.NoError(t, err)
	require.Len(t, files, 8)
	for _, file := range files {
		name, err := filepath.Rel(dir, file)
		require.NoError(t, err)
		require.Equal(t, digestOf(t, file), digestOf(t, filepath.Join(again, name)), name)
	}
}

// javaPackageElsewhere runs package.sh in a copy of its directory, and copies to out
// what it made if it did not fail.
func javaPackageElsewhere(t *testing.T, out string) {
	t.Helper()
	root := t.TempDir()
	source, temp := filepath.Join(root, "wasm", "bindings", "java"), filepath.Join(root, "out")
	require.NoError(t, os.CopyFS(source, os.DirFS("java")))
	require.NoError(t, os.Chmod(filepath.Join(source, "package.sh"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(source, "pom.xml"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "LICENSE"), readBytes(t, "../../LICENSE"), 0o600))
	t.Setenv("SOURCE_DATE_EPOCH", "1790000000")
	buildPackage(t, source, temp)
	require.NoError(t, os.CopyFS(out, os.DirFS(temp)))
}

func digestOf(t *testing.T, name string) [sha256.Size]byte {
	t.Helper()
	return sha256.Sum256(readBytes(t, name))
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
	source := readBytes(t, filepath.Join("java/src/main/java/io/github/addrspec", file))
	for _, match := range regexp.MustCompile(pattern).FindAllSubmatch(source, -1) {
		list = append(list, string(match[1]))
	}
	return list
}

// The manifests have the version of package core.
func TestJavaVersion(t *testing.T) {
	for _, file := range []string{"java/pom.xml", "java/example/pom.xml", "java/validation/pom.xml", "java/spring/pom.xml"} {
		pom := readBytes(t, file)
		require.Regexp(t, `<artifactId>addrspec</artifactId>\s+<version>`+regexp.QuoteMeta(core.Version)+`</version>`, string(pom), file)
	}
	require.Contains(t, string(readBytes(t, "java/CHANGELOG.md")), "\n## "+core.Version+"\n")
}

// The constraint passes its tests in Hibernate Validator, for Jakarta Validation 3.0 and 3.1.
func TestJavaValidation(t *testing.T) {
	for hibernate, expressly := range map[string]string{"8.0.3.Final": "5.0.0", "9.0.1.Final": "6.0.0"} {
		t.Run("hibernate "+hibernate, func(t *testing.T) {
			dir := javaProject(t, "validation", "test-compile", "-Dhibernate.version="+hibernate, "-Dexpressly.version="+expressly)
			classes := filepath.Join(dir, "target", "test-classes")
			output := run(t, "", slices.Concat([]string{find(t, "java")}, javaFlags, []string{
				"-Daddrspec.forms=" + formsTable(t), "-cp", classes + ":" + filepath.Join(dir, "target/dependency/*"),
				"org.junit.platform.console.ConsoleLauncher", "execute", "--scan-classpath=" + classes,
				"--disable-banner", "--fail-if-no-tests", "--details=summary"}))
			require.Regexp(t, `[1-9]\d+ tests successful`, output)
		})
	}
}

// A service of Spring Boot, started on a port, responds with 400 and the messages.
func TestJavaSpring(t *testing.T) {
	for _, boot := range []string{"3.5.7", "4.0.7"} {
		t.Run("boot "+boot, func(t *testing.T) {
			dir := javaProject(t, "spring", "compile", "-Dspring-boot.version="+boot)
			command := slices.Concat([]string{find(t, "java")}, javaFlags, []string{"-cp",
				filepath.Join(dir, "target/classes") + ":" + filepath.Join(dir, "target/dependency/*"), "signup.SignUp", "--server.port=0"})
			service := springService(t, command)
			for _, s := range signUps {
				requireSignUp(t, service, s)
			}
			var all errgroup.Group
			for range 8 {
				all.Go(func() error { return signUpMany(service) })
			}
			require.NoError(t, all.Wait())
			policy := filepath.Join(dir, "target/classes/policies/signup.json")
			require.NoError(t, os.WriteFile(policy, []byte(`{"block": {"reasons": ["disposible"]}}`), 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(out), `@Email(policy = "policies/signup.json"): block.reasons[0]: "disposible" is no reason; did you mean "disposable"?`)
		})
	}
}

// signUp is a request of the service and its response.
type signUp struct {
	language, form string
	status         int
	response       string
}

var signUps = []signUp{
	{"en", `{"email":"jane@example.org"}`, 200, `{"welcome":"jane@example.org"}`},
	{"en", `{"email":"info@example.org"}`, 200, `{"welcome":"info@example.org"}`},
	{"en", `{"email":null}`, 400, `[{"field":"email","message":"must not be null","details":null}]`},
	{"en", `{"email":"jane.@example.org"}`, 400, `[{"field":"email","message":"the local part ends with a dot; remove it",` +
		`"details":{"code":"local_part_ends_with_dot","sentence":"the local part ends with a dot; remove it","offset":4}}]`},
	{"en", `{"email":"jane@gmial.com"}`, 400, `[{"field":"email","message":"did you mean gmail.com?",` +
		`"details":{"code":"typo","sentence":"did you mean gmail.com?","suggestion":"gmail.com"}}]`},
	{"en", `{"email":"jane@mailinator.com"}`, 400, `[{"field":"email","message":"this address is not accepted",` +
		`"details":{"code":"policy","sentence":"this address is not accepted","reason":"disposable","rule":"block.reasons[0]"}}]`},
	{"de", `{"email":"jane"}`, 400, `[{"field":"email","message":"Bitte prüfen Sie die Adresse.",` +
		`"details":{"code":"no_at","sentence":"the address has no @; write it as name@domain","offset":4}}]`},
	{"de", `{"email":"jane@gmial.com"}`, 400, `[{"field":"email","message":"Meinten Sie gmail.com?",` +
		`"details":{"code":"typo","sentence":"did you mean gmail.com?","suggestion":"gmail.com"}}]`},
	{"en", `{"email":"${1+1}{code}@@"}`, 400, `[{"field":"email","message":"the address has a second @; keep one, or put the local part in double quotes",` +
		`"details":{"code":"second_at","sentence":"the address has a second @; keep one, or put the local part in double quotes","offset":13}}]`},
	{"en", `{"email":"jane\ud800@example.org"}`, 400, `[{"field":"email","message":"the address has byte 0xFF, which is not well-formed UTF-8; encode the address in UTF-8",` +
		`"details":{"code":"malformed_utf8","sentence":"the address has byte 0xFF, which is not well-formed UTF-8; encode the address in UTF-8","offset":4}}]`},
	{"en", `{"email":"` + strings.Repeat("x", 2<<20) + `"}`, 400, `[{"field":"email","message":"the address is 349271 bytes too long; at most 254 fit",` +
		`"details":{"code":"address_too_long","sentence":"the address is 349271 bytes too long; at most 254 fit","offset":254}}]`},
}

func requireSignUp(t *testing.T, service string, s signUp) {
	t.Helper()
	status, body, err := s.send(service)
	require.NoError(t, err)
	require.JSONEq(t, s.response, body)
	require.Equal(t, s.status, status)
}

func signUpMany(service string) error {
	for n := range 50 {
		s := signUps[n%5]
		status, body, err := s.send(service)
		if err != nil || status != s.status || body != s.response {
			return fmt.Errorf("%s: %d %s, %w", s.form, status, body, err)
		}
	}
	return nil
}

// send posts the form, and returns the status and the body of the response.
func (s signUp) send(service string) (int, string, error) {
	request, err := http.NewRequest(http.MethodPost, service+"/signup", strings.NewReader(s.form))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept-Language", s.language)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// springService starts a service, and returns its address when it has started.
func springService(t *testing.T, command []string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var log, port string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		log += lines.Text() + "\n"
		if match := regexp.MustCompile(`Tomcat started on port (\d+)`).FindStringSubmatch(lines.Text()); match != nil {
			port = match[1]
		}
		if strings.Contains(lines.Text(), "Started SignUp") {
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			return "http://127.0.0.1:" + port
		}
	}
	require.Fail(t, "the service has ended", log)
	return ""
}

// javaProject runs Maven on a copy of a project in java, with the artifact as its dependency,
// and returns the copy, which has the jars it needs in target/dependency.
func javaProject(t *testing.T, project string, options ...string) string {
	t.Helper()
	built, dir := javaBuilt(t), t.TempDir()
	repository := filepath.Join(cache(t), "java", "repository")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("java", project))))
	require.NoError(t, os.RemoveAll(filepath.Join(repository, "io", "github", "addrspec")))
	build(t, dir, slices.Concat([]string{find(t, "mvn"), "--batch-mode", "--quiet"}, options, []string{"dependency:copy-dependencies",
		"-Daddrspec.repository=file://" + filepath.Join(built, "maven"), "-Dmaven.repo.local=" + repository})...)
	return dir
}

// The bundle has a message, the sentence, for each code of package core and those of the constraint.
func TestJavaMessagesMatchCore(t *testing.T) {
	var want []string
	for r := core.Reason(1); reasonCode(r) != ""; r++ {
		want = append(want, reasonCode(r))
	}
	bundle := readBytes(t, "java/src/main/resources/ContributorValidationMessages.properties")
	message := regexp.MustCompile(`(?m)^io\.github\.addrspec\.validation\.Email\.(\w+)=\{io\.github\.addrspec\.validation\.Email\.message\}$`)
	var got []string
	for _, match := range message.FindAllSubmatch(bundle, -1) {
		got = append(got, string(match[1]))
	}
	require.Equal(t, append(want, "single_label", "unknown_tld", "literal", "comment", "quoted", "arpa", "typo", "policy"), got)
}
