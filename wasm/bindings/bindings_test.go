// Package bindings_test runs the example program of each language whose tools are
// installed, and asks of each the octets that core answers.
package bindings_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// hosts by name. prepare returns the command that runs the program, or skips
// the test by saying what is missing.
var hosts = map[string]struct {
	prepare   func(t *testing.T) []string
	generated int // how many addresses beside the golden ones
}{
	"Go": {func(t *testing.T) []string {
		program := filepath.Join(t.TempDir(), "host")
		build(t, ".", "go", "build", "-o", program, "./go")
		return []string{program}
	}, 50_000},
	"JavaScript in Node": {func(t *testing.T) []string {
		return []string{find(t, "node"), "javascript/addrspec.mjs"}
	}, 50_000},
	"JavaScript in Deno": {func(t *testing.T) []string {
		return []string{find(t, "deno"), "run", "--allow-read", "javascript/addrspec.mjs"}
	}, 50_000},
	"JavaScript in Bun": {func(t *testing.T) []string {
		return []string{find(t, "bun"), "javascript/addrspec.mjs"}
	}, 50_000},
	"Python": {python, 50_000},
	"Rust":   {rust, 50_000},
	"Java":   {java, 50_000},
	"C":      {c, 50_000},
}

func python(t *testing.T) []string {
	for _, program := range []string{os.Getenv("ADDRSPEC_PYTHON"), "python3"} {
		if program != "" && exec.Command(program, "-c", "import wasmtime").Run() == nil {
			return []string{program, "python/addrspec.py"}
		}
	}
	t.Skip("wasmtime is not installed for python3 (pip install wasmtime; ADDRSPEC_PYTHON names a Python that has it)")
	return nil
}

// rust and java build with what their tool chains keep from one test to the
// next; the first time they fetch an engine, and Rust compiles it.
func rust(t *testing.T) []string {
	target := filepath.Join(cache(t), "rust")
	build(t, "rust", find(t, "cargo"), "build", "--release", "--quiet", "--locked", "--target-dir", target)
	return []string{filepath.Join(target, "release", "addrspec-host")}
}

func java(t *testing.T) []string {
	program, target := find(t, "java"), filepath.Join(cache(t), "java")
	build(t, "java", find(t, "mvn"), "--quiet", "--batch-mode", "package", "-Dtarget="+target)
	return []string{program, "-jar", filepath.Join(target, "addrspec-host.jar")}
}

func c(t *testing.T) []string {
	wasmtime := os.Getenv("ADDRSPEC_WASMTIME_C")
	if wasmtime == "" {
		t.Skip("set ADDRSPEC_WASMTIME_C to a folder with include and lib of wasmtime's C API")
	}
	program := filepath.Join(t.TempDir(), "host")
	build(t, "c", find(t, "cc"), "-Wall", "-Wextra", "-Werror", "-o", program, "addrspec.c", "-I", wasmtime+"/include",
		"-L", wasmtime+"/lib", "-Wl,-rpath,"+wasmtime+"/lib", "-lwasmtime", "-lpthread", "-ldl", "-lm")
	return []string{program}
}

// cache is a folder for what takes long to build. Tests of languages whose
// engines are to be fetched run where the caller asks for them.
func cache(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("ADDRSPEC_BINDINGS")
	if dir == "" {
		t.Skip("fetches and compiles an engine: set ADDRSPEC_BINDINGS to a folder to build in")
	}
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	return dir
}

// build runs a build; a registry out of reach skips the test.
func build(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err != nil && unreachable.Match(said) {
		t.Skipf("the registry is out of reach: %s", said)
	}
	require.NoError(t, err, "%s\n%s", strings.Join(command, " "), said)
}

// unreachable is what cargo and Maven say without a network.
var unreachable = regexp.MustCompile(`(?i)could not resolve host|failed to download|Could not transfer artifact|Unknown host|network failure`)

func find(t *testing.T, program string) string {
	t.Helper()
	for _, place := range []string{program, "../../edge/node_modules/.bin/" + program, "../../edge/runtimes/node_modules/.bin/" + program} {
		if path, err := exec.LookPath(place); err == nil {
			return path
		}
	}
	t.Skip(program + " is not installed")
	return ""
}

func TestEveryHostGivesTheSameOctets(t *testing.T) {
	wasm := filepath.Join(t.TempDir(), "addrspec.wasm")
	require.NoError(t, os.WriteFile(wasm, moduletest.Bytes(t), 0o600))
	for name, host := range hosts {
		t.Run(name, func(t *testing.T) {
			command := append(host.prepare(t), wasm)
			list := append(golden(t), vectors.Generate(6, host.generated)...)
			t.Run("ended by zeros", func(t *testing.T) { same(t, list, "\x00", "\x00", append(command, "-0")) })
			t.Run("lines", func(t *testing.T) { same(t, list[:2000], "\n", "\r\n\x00", command) })
			t.Run("lines with CR LF", func(t *testing.T) { same(t, list[:500], "\r\n", "\r\n\x00", command) })
			t.Run("arguments", func(t *testing.T) {
				want := answers([]string{"jane@example.org", "josé@bücher.example"})
				require.Equal(t, want, run(t, "", append(command, "jane@example.org", "josé@bücher.example")))
			})
		})
	}
}

// same gives the addresses, each ended by end, to command, but for those that
// are empty or hold one of the characters in without.
func same(t *testing.T, list []string, end, without string, command []string) {
	var asked []string
	for _, email := range list {
		if email != "" && !strings.ContainsAny(email, without) {
			asked = append(asked, email)
		}
	}
	got := strings.SplitAfter(run(t, strings.Join(asked, end)+end, command), "\n")
	want := strings.SplitAfter(answers(asked), "\n")
	for n := range want {
		if n >= len(got) || got[n] != want[n] {
			require.Equal(t, want[n], append(got, "nothing")[min(n, len(got))], "answer %d of %d, to %q", n+1, len(asked), asked[n])
		}
	}
	require.Len(t, got, len(want))
}

func run(t *testing.T, input string, command []string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	var out, said bytes.Buffer
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8") // by which Java reads its arguments
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &said
	require.NoError(t, cmd.Run(), "%s", &said)
	return out.String()
}

func answers(list []string) string {
	native, all := vectors.Native(), []byte(nil)
	for _, email := range list {
		all = append(append(all, native(email, false)...), '\n')
	}
	return string(all)
}

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

// The classes to lift throw an instance away that failed, and answer on.
func TestHostsOutliveAModuleThatFails(t *testing.T) {
	wasm := filepath.Join(t.TempDir(), "fragile.wasm")
	require.NoError(t, os.WriteFile(wasm, moduletest.Fragile(t), 0o600))
	want := answers([]string{"jane@example.org"})
	for name, prepare := range map[string]func(t *testing.T) []string{
		"JavaScript": func(t *testing.T) []string {
			return []string{find(t, "node"), "--input-type=module", "-e", `
				import { Checker } from "./javascript/addrspec.mjs";
				import { readFileSync } from "node:fs";
				const checker = new Checker(new WebAssembly.Module(readFileSync(process.argv[1])));
				const check = (address) => checker.check(new TextEncoder().encode(address));
				for (const bad of ["!", "?"]) {
					try { check(bad); console.log("no error"); } catch { console.log(Buffer.from(check("jane@example.org")).toString()); }
				}`}
		},
		"Python": func(t *testing.T) []string {
			return []string{python(t)[0], "-B", "-c", `
import sys
sys.path.insert(0, "python")
from addrspec import Checker, Engine, Module
engine = Engine()
checker = Checker(engine, Module.from_file(engine, sys.argv[1]))
for bad in b"!", b"?":
    try:
        checker.check(bad)
        print("no error")
    except Exception:
        print(checker.check(b"jane@example.org").decode())
`}
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, want+want, run(t, "", append(prepare(t), wasm)))
		})
	}
}
