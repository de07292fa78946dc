package bindings_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// gems builds gems of the platforms and returns the directory that has them.
func gems(t *testing.T, platforms string) (directory string) {
	t.Helper()
	for _, tool := range []string{"ruby", "gem"} {
		find(t, tool)
	}
	t.Setenv("GEMS", platforms)
	if strings.Contains(platforms, "x86_64-linux") {
		t.Setenv("PREFIX_x86_64_linux", libaddrspec(t))
	}
	directory = t.TempDir()
	buildPackage(t, "ruby", directory)
	return directory
}

// installGem returns a command that runs another with the gems of this installation and
// those of the system.
func installGem(t *testing.T, home, gem string, options ...string) (environment []string) {
	t.Helper()
	environment = []string{"env", "GEM_HOME=" + home, "LC_ALL=C.UTF-8"}
	build(t, ".", with(with(environment, "gem", "install", "--local", "--no-document", gem), options...)...)
	return environment
}

// rubyGem installs the precompiled gem, once.
func rubyGem(t *testing.T) (environment []string) {
	t.Helper()
	requireRuby31(t)
	home := builtOnce(t, "ruby", func(directory string) {
		installGem(t, directory, gem(t, gems(t, "x86_64-linux"), "-x86_64-linux.gem"))
	}, digest(readBytes(t, filepath.Join(libaddrspec(t), "lib", "libaddrspec.a"))))
	return []string{"env", "GEM_HOME=" + home, "LC_ALL=C.UTF-8"}
}

// requireRuby31 skips a test of the precompiled gem, which is for that Ruby.
func requireRuby31(t *testing.T) {
	t.Helper()
	if platform := run(t, "", []string{find(t, "ruby"), "-e", `print RUBY_PLATFORM, " ", RUBY_VERSION`}); !strings.HasPrefix(platform, "x86_64-linux-gnu 3.1.") {
		t.Skip("the precompiled gem is for Ruby 3.1 on x86_64-linux; this is " + platform)
	}
}

func gem(t *testing.T, directory, suffix string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(directory, "*[0-9]"+suffix))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

func TestRubyGem(t *testing.T) {
	many := with(rubyGem(t), "ruby", "ruby/examples/check.rb")
	single := with(many, "-1")
	pack{many: many, single: single}.requireSameBytes(t)
	policySample(t).requireSame(t, with(many, "-p"))
}

// The gem's own tests.
func TestRubyUnits(t *testing.T) { rubyTests(t, rubyGem(t), "test_addrspec.rb") }

// Ruby raises by __builtin_longjmp, which the address sanitizer does not see: what it has
// poisoned of the frames that are left stays so, and a later frame in their place seems
// wrong. Before a call that never returns the compiler clears it by this function; this
// does so at each raise.
const clearAtRaise = `require "fiddle"
clear = Fiddle::Function.new(Fiddle::Handle::DEFAULT["__asan_handle_no_return"], [], Fiddle::TYPE_VOID)
TracePoint.trace(:raise) { clear.call }
`

// The same under the address and undefined behaviour sanitizers. Leaks are Ruby's own.
func TestRubyUnderSanitizers(t *testing.T) {
	requireRuby31(t)
	prefix, lib := libaddrspec(t), filepath.Join(t.TempDir(), "lib")
	require.NoError(t, os.CopyFS(lib, os.DirFS("ruby/lib")))
	const compile = `eval "$(ruby -r rbconfig -e 'puts %w[rubyhdrdir rubyarchhdrdir].map { |n| "#{n}=#{RbConfig::CONFIG[n]}" }')"
gcc -std=gnu11 -fsanitize=address,undefined -fno-sanitize-recover=undefined -g -O1 -fPIC -shared -w -I"$rubyhdrdir" -I"$rubyarchhdrdir" \
	-I"$1/include" ruby/ext/addrspec/binding.c "$1/lib/libaddrspec.a" -lm -o "$2/addrspec/addrspec.so"`
	find(t, "gcc")
	build(t, ".", "sh", "-ec", compile, "sh", prefix, lib)
	required := filepath.Join(t.TempDir(), "clear.rb")
	require.NoError(t, os.WriteFile(required, []byte(clearAtRaise), 0o600))
	const preload = `export LD_PRELOAD="$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)"; exec "$@"`
	environment := []string{"sh", "-ec", preload, "sh", "env", "ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:detect_stack_use_after_return=0", "RUBYLIB=" + lib, "RUBYOPT=-r" + required}
	rubyTests(t, environment, "test_addrspec.rb")
}

// The validator, by the real Active Model.
func TestRubyValidator(t *testing.T) {
	environment := rubyGem(t)
	if exec.Command("ruby", "-e", "require 'active_model'").Run() != nil {
		t.Skip("Active Model is not installed")
	}
	rubyTests(t, environment, "test_validator.rb")
}

func rubyTests(t *testing.T, environment []string, file string) {
	t.Helper()
	policies, err := filepath.Abs("../vectors/policies.jsonl")
	require.NoError(t, err)
	t.Setenv("ADDRSPEC_POLICIES", policies)
	t.Setenv("ADDRSPEC_LISTS", blobFile(t, moduletest.NewerLists(t)))
	command := with(environment, "ruby", "ruby/tests/"+file)
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// The gem of sources, with the library that is installed, by the compiler's strictest view.
func TestRubySourceGem(t *testing.T) {
	find(t, "cc")
	source := gem(t, gems(t, "ruby"), ".gem")
	environment := installGem(t, t.TempDir(), source, "--", "--with-addrspec-dir="+libaddrspec(t), "--with-cflags=-O2 -Wall -Wextra -Wno-unused-parameter -Wno-cast-function-type -Werror")
	addresses := []string{"jane@example.org", "josé@bücher.example"}
	require.Equal(t, results(addresses), run(t, "", with(with(environment, "ruby", "ruby/examples/check.rb"), addresses...)))
}

// The same gem with nothing else: it compiles the library.
func TestRubySourceGemAlone(t *testing.T) {
	leftToAll(t, "it takes minutes to compile")
	find(t, "cc")
	environment := installGem(t, t.TempDir(), gem(t, gems(t, "ruby"), ".gem"))
	rubyTests(t, environment, "test_addrspec.rb")
}

// A precompiled extension needs the C library alone, and shares nothing with others in its
// process; that for arm64 is one for arm64.
func TestRubyPrecompiledExtensions(t *testing.T) {
	requireExtension := func(t *testing.T, directory, platform string, machine elf.Machine) {
		unpacked := t.TempDir()
		build(t, unpacked, "gem", "unpack", gem(t, directory, "-"+platform+".gem"))
		found, err := filepath.Glob(filepath.Join(unpacked, "*", "lib", "addrspec", "addrspec.so"))
		require.NoError(t, err)
		require.Len(t, found, 1)
		extension, err := elf.Open(found[0])
		require.NoError(t, err)
		defer extension.Close()
		require.Equal(t, machine, extension.Machine)
		libraries, err := extension.ImportedLibraries()
		require.NoError(t, err)
		require.Subset(t, []string{"libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}, libraries)
		symbols, err := extension.DynamicSymbols()
		require.NoError(t, err)
		for _, symbol := range symbols {
			if symbol.Section != elf.SHN_UNDEF && elf.ST_TYPE(symbol.Info) != elf.STT_SECTION {
				require.Equal(t, "Init_addrspec", symbol.Name)
			}
		}
	}
	requireExtension(t, gems(t, "x86_64-linux"), "x86_64-linux", elf.EM_X86_64)
	t.Run("arm64", func(t *testing.T) {
		leftToAll(t, "it takes minutes to compile")
		requireExtension(t, gems(t, "aarch64-linux"), "aarch64-linux", elf.EM_AARCH64)
	})
}

func TestRubyGemsAreReproducible(t *testing.T) {
	leftToCI(t)
	t.Setenv("SOURCE_DATE_EPOCH", "1000000000")
	const platforms = "ruby x86_64-linux"
	first, second := gems(t, platforms), gems(t, platforms)
	files, err := os.ReadDir(first)
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files {
		require.Equal(t, digest(readBytes(t, filepath.Join(first, file.Name()))), digest(readBytes(t, filepath.Join(second, file.Name()))), file.Name())
	}
}
