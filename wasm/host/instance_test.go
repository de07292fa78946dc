package host

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/build/flow"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// FuzzReadRecord reads a record of any bytes, as a defective module may write: an
// error, or Facts within the record, and never a panic.
func FuzzReadRecord(f *testing.F) {
	json := `{"email":"a@b","valid":true,"mx":null}`
	record := make([]byte, reportPrefix, reportPrefix+len(json))
	binary.LittleEndian.PutUint32(record, uint32(len(json)))
	for word, value := range map[int]uint32{wordFacts: 1, wordEmailEnd: 14, wordMX: 32, wordMX + 1: 4} {
		binary.LittleEndian.PutUint32(record[8+4*word:], value)
	}
	record = append(record, json...)
	f.Add(record)
	f.Add(record[:len(record)-1])
	f.Add(record[:reportPrefix-1])
	f.Add(make([]byte, reportPrefix+20))
	f.Fuzz(func(t *testing.T, results []byte) {
		facts, length, err := readRecord(results)
		if err != nil {
			require.True(t, isTrap(err), "%v", err)
			return
		}
		require.LessOrEqual(t, length, len(results))
		require.LessOrEqual(t, len(facts.JSON), length)
		require.LessOrEqual(t, facts.MX.At+facts.MX.Length, len(facts.JSON))
		kept := facts.Keep([]byte("before"))
		require.Equal(t, facts.JSON, kept.JSON)
		require.Equal(t, facts.Email, kept.Email)
	})
}

// The packed module clears memory by copying from its first page (flow.Clear), so
// nothing that it does may write there: a check with any flags, or many.
func TestModuleLeavesItsFirstPageZero(t *testing.T) {
	ctx := context.Background()
	engine, err := New(ctx, moduletest.Bytes(t), Options{Size: 1, CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	defer engine.Close(ctx)
	i, err := engine.View().pool.acquire(ctx, nil)
	require.NoError(t, err)
	defer engine.View().pool.release(ctx, i, nil)
	emails := vectors.Generate(1, 2000)
	for n, email := range emails {
		_, err := i.checkAddress(ctx, nil, email, Flags(n%4))
		require.NoError(t, err)
	}
	require.NoError(t, i.checkMany(ctx, emails, Details, func(int, Facts) {}))
	page, ok := i.module.Memory().Read(0, flow.ZeroPage)
	require.True(t, ok)
	require.Equal(t, make([]byte, flow.ZeroPage), page)
}
