package host_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// Checks in bulk must give what checks one by one give, whatever the flags and
// however many addresses a call takes.
func TestCheckManyMatchesCheck(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	count := 5_000
	if testing.Short() {
		count = 500
	}
	for flags := range host.Details << 1 {
		requireManySame(t, engine, vectors.Generate(11+uint64(flags), count), flags)
	}
	long := strings.Repeat("\x01", 1<<20)
	for _, emails := range [][]string{
		nil, {""}, {"", "", "a@b.example"}, {long}, {"a@b.example", long, "c@d.example"},
		{long[:1<<20-4], long[:1<<20-5], long[:1<<20-3]}, slices.Repeat([]string{long[:4097]}, 600),
	} {
		requireManySame(t, engine, emails, host.Details)
	}
}

// requireManySame compares CheckMany with Check.
func requireManySame(t testing.TB, engine *host.Engine, emails []string, flags host.Flags) {
	view, next := engine.View(), 0
	err := view.CheckMany(context.Background(), emails, flags, func(n int, got host.Facts) {
		require.Equal(t, next, n, "the order")
		next++
	})
	require.NoError(t, err)
	require.Equal(t, len(emails), next)

	copies := make([]host.Facts, len(emails))
	require.NoError(t, view.CheckMany(context.Background(), emails, flags, func(n int, got host.Facts) {
		got.JSON, got.Email = slices.Clone(got.JSON), slices.Clone(got.Email)
		copies[n] = got
	}))
	for n, email := range emails {
		want, err := view.Check(context.Background(), nil, email, flags)
		require.NoError(t, err)
		if string(want.JSON) != string(copies[n].JSON) {
			require.Equal(t, string(want.JSON), string(copies[n].JSON))
		}
		require.Equal(t, want, copies[n])
	}
}

func TestCheckManyErrors(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	before := 0
	count := func(int, host.Facts) { before++ }
	tooLong := strings.Repeat("a", 1<<20+1)
	require.ErrorIs(t, engine.View().CheckMany(t.Context(), []string{"a@b.example", tooLong, "c@d.example"}, 0, count), host.ErrTooLong)
	require.Equal(t, 1, before)
	for _, flags := range []host.Flags{4, 8, 1 << 31} {
		require.ErrorIs(t, engine.View().CheckMany(t.Context(), []string{"a@b.example"}, flags, count), host.ErrFlags)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, engine.View().CheckMany(ended, []string{"a@b.example"}, 0, count), context.Canceled)
	require.Equal(t, 1, before)
	require.Zero(t, engine.Stats().Trapped, "the module is intact")
}

// A panic of the caller's function must not leave an instance in use.
func TestCheckManyAfterPanic(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	require.PanicsWithError(t, "mine", func() {
		_ = engine.View().CheckMany(t.Context(), []string{"a@b.example"}, 0, func(int, host.Facts) { panic(errors.New("mine")) })
	})
	requireManySame(t, engine, []string{"a@b.example"}, 0)
}

// Whatever a defective module returns, the host must report it and not panic.
func TestCheckManyOfDefectiveModule(t *testing.T) {
	engine := newEngine(t, moduletest.Patch(t, moduletest.Bytes(t), moduletest.ReturnInput), host.Options{Size: 1})
	for _, c := range []struct {
		name   string
		result int32
	}{{"nothing", 0}, {"a part of a record", 7}, {"more than the output", 1 << 30}, {"records without lengths", 6 << 20}, {"a defect", -3}, {"a length it calls wrong", -6}} {
		t.Run(c.name, func(t *testing.T) {
			before := engine.Stats().Trapped
			result := binary.LittleEndian.AppendUint32(nil, uint32(c.result))
			err := engine.View().CheckMany(t.Context(), []string{string(result)}, 0, func(int, host.Facts) {})
			require.ErrorContains(t, err, "the module failed")
			require.Equal(t, before+1, engine.Stats().Trapped)
		})
	}
}

// BenchmarkCheckMany compares checks in bulk with checks one by one. An operation is
// one address.
func BenchmarkCheckMany(b *testing.B) {
	engine := newEngine(b, moduletest.Bytes(b), host.Options{Size: 1})
	emails := vectors.Generate(5, 256)
	usual := slices.Repeat([]string{"jane.doe@example.org"}, 256)
	for name, emails := range map[string][]string{"generated": emails, "usual": usual} {
		b.Run(name+"/one by one", func(b *testing.B) {
			var facts host.Facts
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				facts, _ = engine.Check(context.Background(), facts.JSON[:0], emails[n%len(emails)], 0)
			}
		})
		b.Run(name+"/in bulk", func(b *testing.B) {
			b.ReportAllocs()
			view, kept := engine.View(), []byte(nil)
			for n := 0; n < b.N; n += len(emails) {
				_ = view.CheckMany(context.Background(), emails, 0, func(_ int, f host.Facts) { kept = append(kept[:0], f.JSON...) })
			}
		})
	}
}
