package blob_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/internal/format"
)

// TestOpenDamaged changes a part of a blob, with a correct checksum: the error must
// name the part.
func TestOpenDamaged(t *testing.T) {
	packed, err := blob.Pack(small)
	require.NoError(t, err)
	valuesAt := format.PartsAt + 4 + 3 // of the table of domains: its value-size
	for _, c := range []struct{ from, to, want string }{
		{"2026.11.20", "2026-11-20", "its date is not of the form 2026.11.20"},
		{"2026.11.20", "2026.1\".20", "its date is not of the form 2026.11.20"},
		{string(packed[format.PartsAt : valuesAt+1]), string(packed[format.PartsAt:valuesAt]) + "\x03",
			"its table of domains is malformed"},
		{"\x02\x01\x00\x00\x00\x01\x81", "\x03\x01\x00\x00\x00\x01\x81", "a kind has no class, several, or a source or rule that it does not list"},
		{"\x02\x01\x00\x00\x00\x01\x81", "\x00\x01\x00\x00\x00\x01\x81", "a kind has no class, several, or a source or rule that it does not list"},
		{"\x02\x01\x00\x00\x00\x01\x81", "\x40\x01\x00\x00\x00\x01\x81", "a kind has no class, several, or a source or rule that it does not list"},
		{"\x02\x01\x00\x00\x00\x01\x81", "\x02\x05\x00\x00\x00\x01\x81", "a kind has no class, several, or a source or rule that it does not list"},
		{"\x02\x01\x00\x00\x00\x01\x81", "\x02\x01\x00\x00\x00\x03\x81", "a kind has no class, several, or a source or rule that it does not list"},
		{"npm:fakefilter\t", "npm:fakefilter\n", "a line of its sources is malformed"},
		{"npm:fakefilter\t", "npm\"fakefilter\t", "a line of its sources is malformed"},
		{"gmail\t+", "gmail\\+", "a line of its rules is malformed"},
		{"\t.-_\t", "\t.x_\t", "a line of its rules is malformed"},
		{"suite\t", "suits\t", "a line of its exchanges' operators is malformed"},
		{"suite\tG", "suite\t\"", "a line of its exchanges' operators is malformed"},
		{"mail.ru\t", "\tmail.ru", "a line of its mailboxes is malformed"},
		{"._-\t\t", "._+\t\t", "a line of its mailboxes is malformed"},
		{"._-\t\t", "._\t-\t", "a line of its mailboxes is malformed"},
		{"\t4\t31\n", "\t0\t31\n", "a line of its mailboxes is malformed"},
		{"\t4\t31\n", "\t9\t8x\n", "a line of its mailboxes is malformed"},
		{"\t4\t31\n", "\t4\t03\n", "a line of its mailboxes is malformed"},
		{"\t4\t31\n", "\t431\t\n", "a line of its mailboxes is malformed"},
		{".\tgmail.com\n", ".\tproton.me\n", "the domain of a rule is not one of that rule"},
	} {
		at := bytes.Index(packed, []byte(c.from))
		require.Positive(t, at, "%q", c.from)
		b := bytes.Clone(packed)
		copy(b[at:], c.to)
		binary.LittleEndian.PutUint32(b[format.ChecksumAt:], crc32.ChecksumIEEE(b[format.DateAt:]))
		_, err := lists.Open(b)
		require.EqualError(t, err, "lists: the blob is damaged: "+c.want+"; fetch or pack it again", "%q", c.to)
	}
}
