package bindings_test

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
)

// needEngines skips a test that runs an engine for large data, unless ADDRSPEC_ENGINES
// is set.
func needEngines(t *testing.T) {
	t.Helper()
	if os.Getenv("ADDRSPEC_ENGINES") == "" {
		t.Skip("takes minutes and 1 GB of disk: set ADDRSPEC_ENGINES=1")
	}
}

// jvmEngines returns the Maven repository with the jars for Spark and Flink.
func jvmEngines(t *testing.T) string {
	t.Helper()
	needEngines(t)
	find(t, "java")
	version, err := exec.Command(find(t, "mvn"), "--version").Output() // and the JDK's
	require.NoError(t, err)
	folder := builtOnce(t, "java", func(folder string) {
		t.Setenv("SOURCE_DATE_EPOCH", "1790000000")
		buildPackage(t, "java/engines", folder)
	}, "engines", string(version))
	return filepath.Join(folder, "maven")
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
			require.False(t, strings.HasPrefix(f.Name, "com/") || strings.HasPrefix(f.Name, "org/"), f.Name)
		}
		require.Subset(t, names, []string{"META-INF/LICENSE", "io/github/addrspec/Addrspec.class",
			"io/github/addrspec/" + engine + "/AddrspecCheck.class", "io/github/addrspec/" + engine + "/chicory/runtime/Instance.class"})
	}
}

// The same sources in another folder give the same files.
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
	cmd.Env = slices.Concat(os.Environ(), engineSample(t), []string{"PYSPARK_PYTHON=" + python, "ADDRSPEC_JARS=" + jar + "," + noop})
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
