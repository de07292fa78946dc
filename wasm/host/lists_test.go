package host_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

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

func TestNewWithLists(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1, Lists: newer(t)})
	require.True(t, public(t, engine.View()))
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
