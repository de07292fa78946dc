package lists

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenTakesTheCommittedBlob(t *testing.T) {
	l, err := Open(packed)
	require.NoError(t, err)
	require.Equal(t, Default(), l)
	require.Regexp(t, `^20\d\d\.\d\d\.\d\d-[0-9a-f]{8}$`, l.Version())
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	changed := func(at int, to byte) []byte {
		b := append([]byte(nil), packed...)
		b[at] = to
		return b
	}
	for name, c := range map[string]struct {
		blob []byte
		want string
	}{
		"empty":        {nil, "lists: the blob is damaged: it ends within its header; fetch or pack it again"},
		"not a blob":   {changed(0, 'x'), `lists: the blob is damaged: it does not begin with "addrspec"; fetch or pack it again`},
		"older format": {changed(len(magic), 0), "lists: the blob has format 0, this program reads format 1: pack it again with the packer of this program"},
		"newer format": {changed(len(magic), 212), "lists: the blob has format 212, this program reads format 1: update the program"},
		"one bit":      {changed(len(packed)-1, packed[len(packed)-1]^1), "lists: the blob is damaged: its checksum does not fit its bytes; fetch or pack it again"},
		"cut short":    {packed[:len(packed)-1], "lists: the blob is damaged: its parts do not add up to its size; fetch or pack it again"},
		"too long":     {append(packed[:len(packed):len(packed)], 0), "lists: the blob is damaged: its parts do not add up to its size; fetch or pack it again"},
	} {
		_, err := Open(c.blob)
		require.EqualError(t, err, c.want, name)
	}
}

// A blob with a right checksum and wrong insides is refused, or else no
// look-up in it panics.
func FuzzOpen(f *testing.F) {
	f.Add(partsAt, []byte{0xff})          // the first part's size
	f.Add(partsAt+4, []byte{0, 0, 0})     // the counts of the first table
	f.Add(partsAt+4+6+16, []byte{255})    // an ending's length
	f.Add(len(packed)-2500, []byte{0xff}) // the second table
	f.Add(100_000, []byte{0xff, 0xff})    // entries
	f.Fuzz(func(t *testing.T, at int, patch []byte) {
		b := append([]byte(nil), packed...)
		if at < 0 || at > len(b) {
			return
		}
		copy(b[at:], patch)
		binary.LittleEndian.PutUint32(b[checkAt:], crc32.ChecksumIEEE(b[dateAt:]))
		l, err := Open(b)
		if err != nil {
			return
		}
		for _, name := range []string{"gmail.com", "me.mozmail.com", "zzz.example.co.uk", "-.", "tempmail.com", string(patch)} {
			l.Provider([]byte(name))
			l.Role([]byte(name))
		}
		for first := byte('a'); first <= 'z'; first++ { // many shelves, to the end of their last block
			l.Provider([]byte{first, 'a' + first%7, 'z', 'z', 'z', '.', 'z', 'z'})
			l.Role([]byte{first, 'e', 'z', 'z'})
		}
	})
}
