package bindings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// runtimes are commands that run a program of JavaScript.
var runtimes = map[string][]string{
	"node": {"node"},
	"deno": {"deno", "run", "--allow-read", "--allow-env", "--node-modules-dir=manual"},
	"bun":  {"bun"},
}

// The npm package, installed as a user does, gives the bytes of core in each runtime.
func TestJavaScriptPackage(t *testing.T) {
	project := npmProject(t)
	for name, command := range runtimes {
		t.Run(name, func(t *testing.T) {
			command := with(append([]string{find(t, command[0])}, command[1:]...), filepath.Join(project, "check.mjs"))
			pack{many: command, single: with(command, "-1")}.requireSameBytes(t)
		})
	}
}

// A checker must discard an instance that failed and continue with a new one, which
// has the same lists.
func TestJavaScriptAfterTrap(t *testing.T) {
	project := npmProject(t)
	wasm, newer := filepath.Join(project, "fragile.wasm"), blobFile(t, moduletest.NewerLists(t))
	require.NoError(t, os.WriteFile(wasm, moduletest.Fragile(t), 0o600))
	const program = `
import { readFileSync } from "node:fs";
import { load } from "addrspec";
const [wasm, lists] = process.argv.slice(2);
const checker = await load(readFileSync(wasm));
checker.setLists(readFileSync(lists));
for (const bad of ["!", "?"]) {
  try { checker.check(bad); console.log("no error"); }
  catch { console.log(JSON.stringify(checker.check("jane@swapped.example"))); }
}`
	file := filepath.Join(project, "trap.mjs")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	want := newSample([]string{"jane@" + moduletest.Swapped}, "", "").withLists(t, moduletest.NewerLists(t)).want[0]
	require.Equal(t, want+want, run(t, "", []string{find(t, "node"), file, wasm, newer}))
}

// npmProject returns a project with the package installed and the program check.mjs.
func npmProject(t *testing.T) (project string) {
	t.Helper()
	find(t, "npm")
	project = t.TempDir()
	wasm := filepath.Join(t.TempDir(), "addrspec.wasm")
	require.NoError(t, os.WriteFile(wasm, moduletest.Bytes(t), 0o600))
	t.Setenv("ADDRSPEC_MODULE", wasm)
	build(t, "../../edge", "./package.sh", project)
	tarballs, err := filepath.Glob(filepath.Join(project, "addrspec-*.tgz"))
	require.NoError(t, err)
	require.Len(t, tarballs, 1)
	require.NoError(t, os.WriteFile(filepath.Join(project, "package.json"), []byte(`{"private": true}`), 0o600))
	build(t, project, "npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", tarballs[0])
	require.NoError(t, os.WriteFile(filepath.Join(project, "check.mjs"), readBytes(t, "javascript/check.mjs"), 0o600))
	return project
}

// A module of another major version of the interface is rejected.
func TestJavaScriptRejectsOlderModule(t *testing.T) {
	project := npmProject(t)
	wasm := filepath.Join(project, "older.wasm")
	require.NoError(t, os.WriteFile(wasm, moduletest.Older(t), 0o600))
	const program = `
import { readFileSync } from "node:fs";
import { load } from "addrspec";
await load(readFileSync(process.argv[2])).catch((error) => console.log(error.message));`
	file := filepath.Join(project, "older.mjs")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	require.Equal(t, "addrspec.wasm has interface version 1.2, this host needs 2; take both from one release\n",
		run(t, "", []string{find(t, "node"), file, wasm}))
}
