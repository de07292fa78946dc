package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/idna"
)

// builtRelease returns a release to look into: the whole one that ADDRSPEC_RELEASE names,
// which ./build.sh test all builds, or else one with the program of this machine alone
// and without the packages of other languages.
func builtRelease(t *testing.T) *release {
	t.Helper()
	r := &release{tree: ourTree(t), version: core.Version, log: io.Discard}
	if directory := os.Getenv("ADDRSPEC_RELEASE"); directory != "" {
		r.out = directory
		return r
	}
	for _, file := range []string{"dist/addrspec.wasm", "dist/addrspec-cli.wasm", "dist/addrspec-plain.wasm"} {
		if !exists(r.path(file)) {
			t.Skipf("%s is missing: ./build.sh builds it", file)
		}
	}
	here := slices.IndexFunc(platforms, func(p platform) bool { return p.os == runtime.GOOS && p.arch == runtime.GOARCH })
	if here < 0 {
		t.Skip("no release is made for this machine")
	}
	all := platforms
	t.Cleanup(func() { platforms = all })
	platforms = platforms[here : here+1]
	allSteps := steps
	t.Cleanup(func() { steps = allSteps })
	steps = slices.Clone(steps)
	for n := range steps {
		if steps[n].name == "packages" {
			steps[n].run = func(r *release, ctx context.Context) error {
				_, err := r.writeProxy(ctx, r.out, r.version)
				return err
			}
		}
	}
	final := filepath.Join(t.TempDir(), "release")
	require.NoError(t, r.buildInto(t.Context(), final))
	r.out = final
	return r
}

// TestBuilt looks into every file that a build made.
func TestBuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	r := builtRelease(t)
	t.Run("sums", func(t *testing.T) { programOutput(t, r.out, "sha256sum", "--check", "--quiet", sumsFile) })
	t.Run("archives", func(t *testing.T) { requireArchives(t, r) })
	t.Run("SBOM", func(t *testing.T) { requireSBOM(t, r) })
	for _, p := range platforms {
		if p.os == "linux" {
			t.Run("deb/"+p.arch, func(t *testing.T) { requireDeb(t, r, p.arch) })
			t.Run("rpm/"+p.arch, func(t *testing.T) { requireRPM(t, r, p.arch) })
			t.Run("image/"+p.arch, func(t *testing.T) { requireOCI(t, r, p.arch) })
		}
	}
	t.Run("licences", func(t *testing.T) {
		text := read(t, r.out, licencesFile)
		for _, name := range []string{"Go go1.", "its standard library", "github.com/tetratelabs/wazero v", "modernc.org/sqlite v", "Apache License", "MIT License"} {
			require.Contains(t, text, name)
		}
	})
}

// unpacked unpacks the archive of a platform and returns its directory.
func unpacked(t *testing.T, r *release, p platform) string {
	t.Helper()
	name := "addrspec-" + r.version + "-" + p.String()
	dir := t.TempDir()
	if p.os == "windows" {
		programOutput(t, dir, "unzip", "-q", r.inOut(name+".zip"))
	} else {
		programOutput(t, dir, "tar", "-xzf", r.inOut(name+".tar.gz"))
	}
	return filepath.Join(dir, name)
}

func requireArchives(t *testing.T, r *release) {
	for _, p := range platforms {
		t.Run(p.String(), func(t *testing.T) {
			dir := unpacked(t, r, p)
			program := filepath.Join(dir, p.name())
			for _, name := range []string{"LICENSE", licencesFile, "addrspec.1", "completion/addrspec.bash", "completion/_addrspec", "completion/addrspec.fish"} {
				require.NotEmpty(t, read(t, dir, name), name)
			}
			require.Contains(t, read(t, dir, "addrspec.1"), ".TH")
			info, err := buildinfo.ReadFile(program)
			require.NoError(t, err)
			settings := map[string]string{}
			for _, s := range info.Settings {
				settings[s.Key] = s.Value
			}
			require.Equal(t, []string{p.os, p.arch, "0"}, []string{settings["GOOS"], settings["GOARCH"], settings["CGO_ENABLED"]})
			requireFormat(t, p, program)
			if p.os == runtime.GOOS && p.arch == runtime.GOARCH {
				requireRuns(t, r, program)
			}
		})
	}
}

// requireFormat requires the file format of the platform: ELF, Mach-O or PE.
func requireFormat(t *testing.T, p platform, program string) {
	t.Helper()
	switch p.os {
	case "linux":
		f, err := elf.Open(program)
		require.NoError(t, err)
		require.Equal(t, map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[p.arch], f.Machine)
		_, err = f.ImportedLibraries()
		require.NoError(t, err)
		require.Nil(t, f.Section(".interp"), "it needs no libraries of the system")
	case "darwin":
		f, err := macho.Open(program)
		require.NoError(t, err)
		require.Equal(t, map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[p.arch], f.Cpu)
	case "windows":
		f, err := pe.Open(program)
		require.NoError(t, err)
		require.EqualValues(t, map[string]int{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}[p.arch], f.Machine)
	}
}

// requireRuns runs the unpacked program, in an empty directory and without a home.
func requireRuns(t *testing.T, r *release, program string) {
	t.Helper()
	run := func(args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = t.TempDir(), []string{}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Contains(t, run("--version"), "addrspec "+r.version+"+")
	var versions struct{ Engine, Unicode string }
	require.NoError(t, json.Unmarshal([]byte(run("version", "--to", "json")), &versions))
	require.Equal(t, core.Version, versions.Engine)
	require.Equal(t, idna.UnicodeVersion, versions.Unicode)
	facts := core.Check("jane@gmial.com")
	checked := run("check", "--offline", "--to", "ndjson", "jane@gmial.com")
	require.Equal(t, string(facts.JSON()), strings.TrimSpace(checked))
}

// requireSBOM validates the bill of materials against CycloneDX's own schema, and
// compares it with what the program says that it contains.
func requireSBOM(t *testing.T, r *release) {
	text := read(t, r.out, "addrspec-"+r.version+".cdx.json")
	require.NoError(t, cycloneDX(t).Validate(must(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t)))
	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(strings.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom))
	have := map[string]cdx.Component{}
	for _, c := range *bom.Components {
		have[c.BOMRef] = c
	}
	for _, p := range platforms {
		program := filepath.Join(unpacked(t, r, p), p.name())
		digest, err := digestFile(program)
		require.NoError(t, err)
		require.Equal(t, digest, (*have["program/"+p.String()].Hashes)[0].Value)
		info, err := buildinfo.ReadFile(program)
		require.NoError(t, err)
		require.NotEmpty(t, info.Deps)
		for _, m := range info.Deps {
			require.Contains(t, have, "pkg:golang/"+linked(m).Path+"@"+linked(m).Version)
		}
	}
	require.Contains(t, have, "file/addrspec.wasm")
	depends := map[string][]string{}
	for _, d := range *bom.Dependencies {
		require.True(t, d.Ref == "addrspec" || have[d.Ref].BOMRef != "", d.Ref)
		depends[d.Ref] = nil
		if d.Dependencies != nil {
			depends[d.Ref] = *d.Dependencies
		}
		for _, ref := range depends[d.Ref] {
			require.Contains(t, have, ref)
		}
	}
	for _, c := range []struct{ file, library string }{
		{"addrspec-" + r.version + ".tgz", "file/addrspec.wasm"},
		{"addrspec-" + r.version + ".tgz", "pkg:npm/%40noble/hashes@"},
		{"addrspec-" + r.version + ".crate", "pkg:cargo/wasmi@"},
		{"addrspec-" + r.version + ".jar", "pkg:maven/com.dylibso.chicory/runtime@"},
		{"addrspec-" + r.version + "-py3-none-any.whl", "pkg:pypi/wasmtime"},
		{"addrspec-" + r.version + "-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "pkg:github/WebAssembly/wabt@"},
		{"addrspec-c-" + r.version + ".tar.gz", "pkg:github/WebAssembly/wabt@"},
		{"addrspec-c-" + r.version + "-linux-x86_64.tar.gz", "pkg:github/WebAssembly/wabt@"},
	} {
		if on, ok := depends["file/"+c.file]; ok { // else the release does not have it
			needs := func(ref string) bool { return strings.HasPrefix(ref, c.library) }
			require.True(t, slices.ContainsFunc(on, needs), "%s: %v", c.file, on)
		}
	}
}

// must returns a function that returns v unless err is set.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

// cycloneDX compiles the schema, which the library brings along with those it refers to.
func cycloneDX(t *testing.T) *jsonschema.Schema {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	require.NoError(t, err)
	dir := filepath.Join(strings.TrimSpace(string(out)), "schema")
	const base = "http://cyclonedx.org/schema/"
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		path := filepath.Join(dir, file)
		if !exists(path) {
			path = filepath.Join(dir, name)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(must(os.ReadFile(path))(t)))
		require.NoError(t, err)
		require.NoError(t, compiler.AddResource(base+name, document))
	}
	return must(compiler.Compile(base + "bom-1.6.schema.json"))(t)
}
