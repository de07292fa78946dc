package blob

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

// TestUnpack packs what it unpacked: the bytes must be the same, so no part of a blob is
// lost or changed.
func TestUnpack(t *testing.T) {
	packed, err := Pack(Unpack(open(t, Unpack(lists.Default()))))
	require.NoError(t, err)
	require.True(t, bytes.Equal(lists.Blob(), packed))
}

// A part that is added to the content must be unpacked too.
func TestUnpackEveryPart(t *testing.T) {
	content := reflect.ValueOf(Unpack(lists.Default()))
	for i := range content.NumField() {
		require.NotZero(t, content.Field(i).Len(), content.Type().Field(i).Name)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("a.example"), []byte("info"), uint32(1))
	f.Add([]byte("-.x"), []byte("\u0438\u043d\u0444\u043e"), uint32(0xffffffff))
	f.Fuzz(func(t *testing.T, name, word []byte, carriers uint32) {
		if len(word) < 2 || bytes.HasPrefix(word, []byte("--")) {
			return // no letter of another script, or what looks like the name of such a word
		}
		c := Content{Date: "2026.11.20", Sources: []lists.Source{{Name: "a"}, {Name: "b", Version: "1", Domains: "7"}},
			Roles:   map[string]lists.Word{string(word): lists.Word(lists.General)},
			Domains: map[string]Kind{string(name): {Class: lists.Relay, Subdomains: carriers&4 != 0, Carriers: carriers & 3}}}
		packed, err := Pack(c)
		if err != nil {
			return
		}
		l, err := lists.Open(packed)
		require.NoError(t, err)
		require.Equal(t, lists.General, l.Word(word).Class())
		again, err := Pack(Unpack(l))
		require.NoError(t, err)
		require.Equal(t, packed, again)
	})
}
