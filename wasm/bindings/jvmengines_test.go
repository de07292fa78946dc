package bindings_test

import (
	"archive/zip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// needEngines skips a test that runs an engine for large data, unless ADDRSPEC_ALL
// is set.
func needEngines(t *testing.T) {
	t.Helper()
	leftToAll(t, "it takes minutes and 1 GB of disk")
}

// jvmEngines returns the Maven repository with the jars for Spark and Flink.
func jvmEngines(t *testing.T) string {
	t.Helper()
	needEngines(t)
	find(t, "java")
	version, err := exec.Command(find(t, "mvn"), "--version").Output() // and the JDK's
	require.NoError(t, err)
	directory := builtOnce(t, "java", func(directory string) {
		t.Setenv("SOURCE_DATE_EPOCH", "1790000000")
		buildPackage(t, "java/engines", directory)
	}, "engines", string(version))
	return filepath.Join(directory, "maven")
}

// engineJar returns the file of an engine's jar in a Maven repository.
func engineJar(repository, engine string) string {
	name := "addrspec-" + engine
	return filepath.Join(repository, "io/github/addrspec", name, core.Version, name+"-"+core.Version+".jar")
}

// Each jar has all that its function needs, and nothing that would describe only a part
// of it or could meet another version of the same class in a job.
func TestJVMEngineJars(t *testing.T) {
	repository := jvmEngines(t)
	for _, engine := range []string{"spark", "flink"} {
		archive, err := zip.OpenReader(engineJar(repository, engine))
		require.NoError(t, err)
		defer archive.Close()
		var names []string
		for _, f := range archive.File {
			names = append(names, f.Name)
			require.False(t, strings.HasSuffix(f.Name, "module-info.class"), f.Name)
			require.NotContains(t, f.Name, "ContributorValidationMessages")
			require.NotContains(t, f.Name, "io/github/addrspec/validation/")
			require.False(t, strings.HasPrefix(f.Name, "com/") || strings.HasPrefix(f.Name, "org/"), f.Name)
		}
		require.Subset(t, names, []string{"META-INF/LICENSE", "io/github/addrspec/Addrspec.class",
			"io/github/addrspec/" + engine + "/AddrspecCheck.class", "io/github/addrspec/" + engine + "/AddrspecCanonical.class", "io/github/addrspec/" + engine + "/AddrspecVerdict.class", "io/github/addrspec/" + engine + "/chicory/runtime/Instance.class"})
	}
}

// The same sources in another directory give the same files.
func TestJVMEngineJarsAreReproducible(t *testing.T) {
	repository, root := jvmEngines(t), t.TempDir()
	source, out := filepath.Join(root, "wasm", "bindings", "java"), filepath.Join(root, "out")
	require.NoError(t, os.CopyFS(source, os.DirFS("java")))
	require.NoError(t, os.Chmod(filepath.Join(source, "engines", "package.sh"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "LICENSE"), readBytes(t, "../../LICENSE"), 0o600))
	t.Setenv("SOURCE_DATE_EPOCH", "1790000000")
	buildPackage(t, filepath.Join(source, "engines"), out)
	for _, engine := range []string{"spark", "flink"} {
		jar := engineJar(repository, engine)
		again := engineJar(filepath.Join(out, "maven"), engine)
		pom := func(jar string) string { return strings.TrimSuffix(jar, "jar") + "pom" }
		require.Equal(t, digestOf(t, jar), digestOf(t, again), engine)
		require.Equal(t, digestOf(t, pom(jar)), digestOf(t, pom(again)), engine)
	}
}

// The jar in Spark, with two executors.
func TestSparkSQL(t *testing.T) {
	jar := engineJar(jvmEngines(t), "spark")
	python := pythonWithEngines(t)
	noop := sparkNoOp(t, python)
	program, err := filepath.Abs("java/spark/tests/test_spark.py")
	require.NoError(t, err)
	cmd := exec.Command(python, "-B", program, "-v")
	cmd.Dir = t.TempDir()
	policies, err := filepath.Abs("../vectors/policies.jsonl")
	require.NoError(t, err)
	cmd.Env = slices.Concat(os.Environ(), engineSample(t), []string{"PYSPARK_PYTHON=" + python, "ADDRSPEC_JARS=" + jar + "," + noop, "ADDRSPEC_POLICIES=" + policies})
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// sparkNoOp compiles the function that does nothing and returns its jar.
func sparkNoOp(t *testing.T, python string) string {
	t.Helper()
	spark := strings.TrimSpace(run(t, "", []string{python, "-c", "import pyspark; print(pyspark.__path__[0])"}))
	classes, jar := t.TempDir(), filepath.Join(t.TempDir(), "noop.jar")
	build(t, ".", find(t, "javac"), "-cp", filepath.Join(spark, "jars", "*"), "-d", classes, "java/spark/tests/NoOp.java")
	build(t, ".", find(t, "jar"), "cf", jar, "-C", classes, ".")
	return jar
}

// flinkJob returns the command of a job that is built as a user would, in a directory of
// its own, with the jar as its dependency.
func flinkJob(t *testing.T) []string {
	t.Helper()
	built, dir := jvmEngines(t), t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("java/flink/tests")))
	repository := filepath.Join(cache(t), "java", "repository")
	require.NoError(t, os.RemoveAll(filepath.Join(repository, "io", "github", "addrspec")))
	build(t, dir, find(t, "mvn"), "--batch-mode", "--quiet", "package", "-Daddrspec.repository=file://"+built, "-Dmaven.repo.local="+repository)
	path := filepath.Join(dir, "target/job.jar") + ":" + filepath.Join(dir, "target/lib/*")
	return []string{find(t, "java"), "-XX:+UseSerialGC", "--add-opens", "java.base/java.util=ALL-UNNAMED", "-cp", path, "Job"}
}

// The jar in Flink gives the facts of core, keeps bad rows, and checks a million.
func TestFlinkSQL(t *testing.T) {
	job := flinkJob(t)
	t.Run("facts", func(t *testing.T) { requireFlinkFacts(t, job) })
	t.Run("verdicts", func(t *testing.T) { requireFlinkVerdicts(t, job) })
	t.Run("wrong policy", func(t *testing.T) {
		const why = `block.reasons[0]: "typpo" is no reason; did you mean "typo"?`
		const query = `SELECT addrspec_verdict(email, '{"block":{"reasons":["typpo"]}}') FROM people`
		requireFails(t, why, with(job, "query", query))
		requireFails(t, "AddrspecVerdict.specialize", with(job, "query", query)) // before any task
		const column = `SELECT addrspec_verdict(email, policy) FROM (SELECT email, CASE WHEN email LIKE '%7@%' THEN '{"block":{"reasons":["typpo"]}}' ELSE '{}' END AS policy FROM people)`
		requireFails(t, why, with(job, "query", "SELECT COUNT(*) FROM ("+column+") AS v (v) WHERE v.action = 'block'"))
	})
	t.Run("bad rows", func(t *testing.T) {
		const policy = `'{"block":{"reasons":["typo"]},"review":{"domains":["ÿ.example"]}}'`
		for query, want := range map[string]string{
			"SELECT addrspec_check('jane@gmial.com').typo_suggestion":                 "gmail.com\n",
			"SELECT addrspec_check(CAST(NULL AS STRING)) IS NULL":                     "true\n",
			"SELECT addrspec_check(CAST(NULL AS BYTES)) IS NULL":                      "true\n",
			"SELECT addrspec_check('').valid":                                         "false\n",
			"SELECT addrspec_check(x'ff4078').valid":                                  "false\n",
			"SELECT addrspec_check(REPEAT('x', 1048577)).valid":                       "false\n",
			"SELECT addrspec_check(REPEAT('x', 1048577)).email IS NULL":               "true\n",
			"SELECT addrspec_canonical('J.Doe+x@googlemail.com')":                     "jdoe@gmail.com\n",
			"SELECT addrspec_canonical(x'6140c3bf2e6578616d706c65')":                  "a@ÿ.example\n",
			"SELECT addrspec_canonical(CAST(NULL AS STRING)) IS NULL":                 "true\n",
			"SELECT addrspec_canonical('no address') IS NULL":                         "true\n",
			"SELECT addrspec_canonical(REPEAT('x', 1048577)) IS NULL":                 "true\n",
			"SELECT addrspec_verdict('jane@gmial.com', " + policy + ").rule":          "block.reasons[0]\n",
			"SELECT addrspec_verdict(x'6140c3bf2e6578616d706c65', " + policy + ")":    "+I[review, domain, review.domains[0]]\n",
			"SELECT addrspec_verdict(x'ff4078', " + policy + ")":                      "+I[block, invalid, null]\n",
			"SELECT addrspec_verdict(REPEAT('x', 1048577), " + policy + ")":           "+I[block, invalid, null]\n",
			"SELECT addrspec_verdict(CAST(NULL AS STRING), " + policy + ") IS NULL":   "true\n",
			"SELECT addrspec_verdict('jane@gmial.com', CAST(NULL AS STRING)) IS NULL": "true\n",
			"SELECT CHAR_LENGTH(addrspec_check(REPEAT('x', 4097)).email)":             "4097\n",
		} {
			require.Equal(t, want, run(t, "", with(job, "query", query)), query)
		}
	})
	t.Run("a million rows", func(t *testing.T) {
		t.Log(run(t, "", with(job, "million")))
		const suggestions = "SELECT COUNT(addrspec_check(email).typo_suggestion) FROM people"
		require.Equal(t, "990000\n", run(t, "", with(job, "query", suggestions)))
	})
}

// requireFlinkFacts requires the facts of core for the golden vectors and generated
// addresses.
func requireFlinkFacts(t *testing.T, job []string) {
	t.Helper()
	s := newSample(append(golden(t), vectors.Generate(6, 50_000)...), "\x00", "\x00")
	requireStructs(t, with(job, "facts"), s)
}

// requireFlinkVerdicts requires the verdicts of the vectors for which nothing is looked up, each
// by the policy in its row.
func requireFlinkVerdicts(t *testing.T, job []string) {
	t.Helper()
	cases, err := vectors.ReadPolicies("../vectors")
	require.NoError(t, err)
	var s sample
	for _, c := range cases {
		if c.Error == "" && c.Lookup() == 0 && !c.Disposable && len(c.Exchanges) == 0 {
			s.addresses, s.want = append(s.addresses, c.Email), append(s.want, string(c.Verdict))
			s.input += c.Document + "\x00" + c.Email + "\x00"
		}
	}
	require.Greater(t, len(s.addresses), 40)
	requireStructs(t, with(job, "verdicts"), s)
}

// requireStructs passes the input in a file to a job that prints the number and the result of
// each row.
func requireStructs(t *testing.T, job []string, s sample) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rows")
	require.NoError(t, os.WriteFile(file, []byte(s.input), 0o600))
	seen := 0
	for line := range strings.Lines(run(t, "", with(job, file))) {
		got, want := map[string]any{}, map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(line), &got))
		n := int(got["n"].(float64))
		require.NoError(t, json.Unmarshal([]byte(s.want[n]), &want))
		want["n"] = float64(n)
		require.Equal(t, want, got)
		seen++
	}
	require.Len(t, s.addresses, seen)
}
