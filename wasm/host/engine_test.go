package host_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/module"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

func newEngine(t testing.TB, wasm []byte, o host.Options) *host.Engine {
	t.Helper()
	o.CacheDir = moduletest.CacheDir()
	engine, err := host.New(context.Background(), wasm, o)
	require.NoError(t, err)
	t.Cleanup(func() { engine.Close(context.Background()) })
	return engine
}

// Check may allocate only Facts.Host.
func TestCheckAllocations(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	var facts host.Facts
	var err error
	for _, flags := range []host.Flags{0, host.Details} {
		allocations := testing.AllocsPerRun(100, func() {
			if facts, err = engine.Check(context.Background(), facts.JSON[:0], "jane.doe@example.org", flags); err != nil {
				panic(err)
			}
		})
		require.LessOrEqual(t, allocations, 1.0, "flags %d", flags)
	}
}

// checked are addresses whose checks are compared: a usual one, and those that
// a search by time found to take the typo check longest. None should take three
// times as long as the usual one.
var checked = []string{
	"jane.doe@example.org", "jane.doe@hotmail.con", "jane.doe@gmial.com", "jane.doe@yahoo.0mmccomceo",
	"jane.doe@yahoo0.coop.gj", "jane.doe@maiil.coml2eu", "jane.doe@ma1ibok.ltntiu", "jane.doe@hotmail.le", "jane.doe@taeono.khi",
}

// BenchmarkCheck compares the module with native core.
func BenchmarkCheck(b *testing.B) {
	engine := newEngine(b, moduletest.Bytes(b), host.Options{Size: 1})
	for _, email := range checked {
		b.Run(email+"/native", func(b *testing.B) { benchmarkNative(b, email) })
		b.Run(email+"/wazero", func(b *testing.B) { benchmarkModule(b, engine, email) })
	}
}

func benchmarkNative(b *testing.B, email string) {
	checker, line := core.New(lists.Default()), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		native := checker.Check([]byte(email))
		line, _ = core.AppendJSON(line[:0], &native, false)
	}
}

func benchmarkModule(b *testing.B, engine *host.Engine, email string) {
	var facts host.Facts
	var err error
	b.ReportAllocs()
	for b.Loop() {
		if facts, err = engine.Check(context.Background(), facts.JSON[:0], email, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAppendResult(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	for _, mx := range []bool{false, true} {
		facts, err := engine.Check(context.Background(), nil, "jane@example.org", 0)
		require.NoError(t, err)
		before := string(facts.JSON)
		want := strings.Replace(before, `"mx":null`, fmt.Sprintf(`"mx":%t`, mx), 1)
		require.NotEqual(t, before, want)
		require.NoError(t, engine.View().Resolve(context.Background(), &facts, host.Lookup{MX: mx}))
		require.Equal(t, want, string(facts.AppendResult(nil)))
		require.Equal(t, want, string(facts.Result()))
		require.Equal(t, `"jane@example.org"`, string(facts.Email))
	}
	for _, email := range []string{"jane@[192.0.2.1]", "jane"} {
		for _, flags := range []host.Flags{0, host.Details} {
			facts, err := engine.Check(context.Background(), nil, email, flags)
			require.NoError(t, err)
			require.Contains(t, string(facts.JSON), `"mx":false`)
			require.NoError(t, engine.View().Resolve(context.Background(), &facts, host.Lookup{}))
			require.Equal(t, string(facts.JSON), string(facts.Result()))
		}
	}
}

// The default engine runs the embedded module, and is one for the whole program.
func TestDefault(t *testing.T) {
	if _, err := module.Bytes(); err != nil {
		_, got := host.Default()
		require.ErrorIs(t, got, module.ErrMissing)
		t.Skip("the module is not built: ./build.sh builds it")
	}
	t.Setenv("XDG_CACHE_HOME", moduletest.CacheDir())
	engine, err := host.Default()
	require.NoError(t, err)
	again, err := host.Default()
	require.NoError(t, err)
	require.Same(t, engine, again)
	facts, err := engine.Check(t.Context(), nil, "jane@example.org", 0)
	require.NoError(t, err)
	require.Equal(t, string(vectors.Native()("jane@example.org", false)), string(facts.JSON))
}

// A cache whose entries cannot be opened, as another user's cannot, only costs time.
// A directory in place of an entry cannot be opened by root either.
func TestUnusableCache(t *testing.T) {
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	cache := t.TempDir()
	starts := func() {
		t.Helper()
		engine, err := host.New(t.Context(), moduletest.Bytes(t), host.Options{Size: 1, CacheDir: cache})
		require.NoError(t, err)
		engine.Close(t.Context())
	}
	starts()
	for _, entry := range entries(t, cache) {
		require.NoError(t, os.Remove(entry))
		require.NoError(t, os.Mkdir(entry, 0o700))
	}
	starts()
}

// entries returns the files in a directory and below, of which there is at least one.
func entries(t *testing.T, directory string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(directory, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	require.NotEmpty(t, files)
	return files
}

// swapped is an address whose domain is public only in newer lists.
const swapped = "jane@" + moduletest.Swapped

func newer(t testing.TB) []byte {
	t.Helper()
	return moduletest.NewerLists(t)
}

// public reports whether the domain of swapped is public in the view.
func public(t testing.TB, view *host.View) bool {
	facts, err := view.Check(context.Background(), nil, swapped, 0)
	require.NoError(t, err)
	return bytes.Contains(facts.JSON, []byte(`"public":true`))
}

func TestSetLists(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 2})
	own, before := engine.View().Info(), engine.View()
	require.False(t, public(t, before))
	require.NoError(t, engine.SetLists(context.Background(), newer(t)))
	require.True(t, public(t, engine.View()))
	require.NotEqual(t, own.Lists, engine.View().Info().Lists)
	require.False(t, public(t, before), "a view keeps its lists")
	require.NoError(t, engine.SetLists(context.Background(), nil))
	require.Equal(t, own, engine.View().Info())
}

// Lists larger than the input are passed in pieces. Bytes after the
// end of a blob make it invalid.
func TestSetListsErrors(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1, Lists: newer(t)})
	own := engine.View().Info()
	blob := newer(t)
	flipped := bytes.Clone(blob)
	flipped[len(flipped)/2] ^= 1
	for _, c := range []struct {
		name string
		blob []byte
		is   error
		want string
	}{
		{"nothing", []byte{}, host.ErrLists, "header"},
		{"not a blob", []byte("<html>"), host.ErrLists, "damaged"},
		{"a flipped bit", flipped, host.ErrLists, "damaged"},
		{"half a blob", blob[:len(blob)/2], host.ErrLists, "damaged"},
		{"three pieces", append(bytes.Clone(blob), make([]byte, 2<<20)...), host.ErrLists, "damaged"},
		{"too large", make([]byte, 4<<20+1), host.ErrListsSize, "4 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := engine.SetLists(context.Background(), c.blob)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, own, engine.View().Info())
			require.True(t, public(t, engine.View()))
		})
	}
}

// Callers must not fail while the lists are replaced, and must not see both lists
// in one view.
func TestSetListsUnderLoad(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 2})
	own := engine.View().Info().Lists
	done := make(chan struct{})
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					view := engine.View()
					require.Equal(t, view.Info().Lists != own, public(t, view))
				}
			}
		})
	}
	for n := range 20 {
		blob := newer(t)
		if n%2 == 1 {
			blob = nil
		}
		require.NoError(t, engine.SetLists(context.Background(), blob))
	}
	close(done)
	callers.Wait()
}

func TestInfo(t *testing.T) {
	info := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1}).View().Info()
	require.NotEmpty(t, info.Engine)
	require.NotEmpty(t, info.Model)
	require.Len(t, strings.Split(info.Lists, "."), 3, "the version starts with a date: %s", info.Lists)
}

// An instance that failed is discarded, and the next call gets a new one.
func TestCheckAfterTrap(t *testing.T) {
	engine := newEngine(t, moduletest.Fragile(t), host.Options{Size: 1})
	same := requireSame(t, engine)
	for _, bad := range []string{"!@example.org", "?@example.org", "#@example.org"} {
		for range 3 {
			_, err := engine.Check(context.Background(), nil, bad, 0)
			require.ErrorContains(t, err, "the module failed", bad)
			require.NotContains(t, err.Error(), bad, "the error must not contain the address")
			same(t, "jane@example.org", 0)
		}
	}
	require.EqualValues(t, 9, engine.Stats().Trapped)
}

// Many callers share two instances, which fail again and again.
func TestCheckConcurrent(t *testing.T) {
	engine := newEngine(t, moduletest.Fragile(t), host.Options{Size: 2})
	addresses := 200 // of each caller
	if testing.Short() {
		addresses = 50 // a new instance after each takes 15 ms under the race detector
	}
	var callers sync.WaitGroup
	for seed := range uint64(8) {
		callers.Go(func() {
			same := requireSame(t, engine)
			for _, email := range vectors.Generate(seed, addresses) {
				if strings.ContainsAny(email[:min(1, len(email))], "!?#") {
					continue
				}
				same(t, email, 0)
				_, err := engine.Check(context.Background(), nil, "!", 0)
				require.Error(t, err)
			}
		})
	}
	callers.Wait()
}
