package host

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzReadRecord reads a record of any bytes, as a defective module may write: an
// error, or Facts within the record, and never a panic.
func FuzzReadRecord(f *testing.F) {
	json := `{"email":"a@b","valid":true,"mx":false}`
	record := make([]byte, reportPrefix, reportPrefix+len(json))
	binary.LittleEndian.PutUint32(record, uint32(len(json)))
	for word, value := range map[int]uint32{wordValid: 1, wordEmailEnd: 14, wordMXAt: 32} {
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
		require.LessOrEqual(t, facts.MXAt+len(mxFalse), len(facts.JSON))
		kept := facts.Keep([]byte("before"))
		require.Equal(t, facts.JSON, kept.JSON)
		require.Equal(t, facts.Email, kept.Email)
	})
}
