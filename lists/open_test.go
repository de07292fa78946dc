package lists

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/addrspec/addrspec/lists/internal/format"
	"github.com/stretchr/testify/require"
)

func TestOpenDefault(t *testing.T) {
	l, err := Open(packed)
	require.NoError(t, err)
	require.Equal(t, Default(), l)
	require.Regexp(t, `^20\d\d\.\d\d\.\d\d-[0-9a-f]{8}$`, l.Version())
}

func TestOpenErrors(t *testing.T) {
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
		"older format": {changed(len(format.Magic), 2), "lists: the blob has format 2, this program reads format 5: pack it again with the packer of this program"},
		"newer format": {changed(len(format.Magic), 212), "lists: the blob has format 212, this program reads format 5: update the program"},
		"one bit":      {changed(len(packed)/2, packed[len(packed)/2]^1), "lists: the blob is damaged: its checksum does not match its bytes; fetch or pack it again"},
		"cut short":    {packed[:len(packed)-1], "lists: the blob is damaged: its parts do not add up to its size; fetch or pack it again"},
		"too long":     {append(packed[:len(packed):len(packed)], 0), "lists: the blob is damaged: its parts do not add up to its size; fetch or pack it again"},
	} {
		_, err := Open(c.blob)
		require.EqualError(t, err, c.want, name)
	}
}

// FuzzOpen checks that no lookup panics in a blob with a correct checksum and
// any other bytes changed, if Open accepts it.
func FuzzOpen(f *testing.F) {
	f.Add(format.PartsAt, []byte{0xff})       // the size of the first part
	f.Add(format.PartsAt+4, []byte{0, 0, 0})  // the counts of the table of domains
	f.Add(format.PartsAt+4+6+16, []byte{255}) // the length of a suffix
	f.Add(len(packed)-2500, []byte{0xff})     // the table of role words
	f.Add(100_000, []byte{0xff, 0xff})        // entries
	f.Add(len(packed)-400, []byte{9, 10})     // the rules
	f.Fuzz(func(t *testing.T, at int, patch []byte) {
		b := append([]byte(nil), packed...)
		if at < 0 || at > len(b) {
			return
		}
		copy(b[at:], patch)
		binary.LittleEndian.PutUint32(b[format.ChecksumAt:], crc32.ChecksumIEEE(b[format.DateAt:]))
		l, err := Open(b)
		if err != nil {
			return
		}
		for _, name := range []string{"gmail.com", "me.mozmail.com", "zzz.example.co.uk", "-.", "tempmail.com", string(patch)} {
			l.Word([]byte(name))
			l.Rule([]byte(name))
			_, rule := l.Lookup([]byte(name))
			if rule != 0 {
				l.MailboxRules()[rule-1].Allows(patch)
			}
			for i, m := 0, l.Match([]byte(name)); i < len(l.Sources()); i++ {
				m.CarriedBy(i)
			}
		}
		for first := byte('a'); first <= 'z'; first++ { // many buckets, to the end of their last block
			l.Provider([]byte{first, 'a' + first%7, 'z', 'z', 'z', '.', 'z', 'z'})
			l.Word([]byte{first, 'e', 'z', 'z'})
		}
	})
}
