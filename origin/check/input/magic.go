package input

import (
	"bytes"
	"errors"
	"strings"
)

// A signature is how files of a format begin.
type signature struct {
	magic string
	err   error // why such a file is not read; nil if it is
}

// signatures are the formats that are recognised before their encoding. Addresses
// do not begin with any of them whole.
var signatures = append([]signature{
	{gzipMagic, nil},
	{markUTF8, nil},
	{markUTF16LE, nil},
	{markUTF16BE, nil},
	{"\xff\xfe\x00\x00", errUTF32},
	{"\x00\x00\xfe\xff", errUTF32},
	{"\x28\xb5\x2f\xfd", compressed("Zstandard", "zstd -dc")},
	{"\xfd7zXZ\x00", compressed("xz", "xz -dc")},
	{"\x04\x22\x4d\x18", compressed("LZ4", "lz4 -dc")},
	{"7z\xbc\xaf\x27\x1c", compressed("7-Zip", "7z x -so")},
	{"PK\x03\x04", errors.New("this is a ZIP archive or a spreadsheet (.xlsx, .ods): unpack the archive, or save the sheet as CSV UTF-8")},
	{"PK\x05\x06", errors.New("this is an empty ZIP archive")},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", errors.New("this is an old Office document (.xls): open it and save the sheet as CSV UTF-8")},
	{"%PDF-", errors.New("this is a PDF document: take the list from where it was made, as CSV or text")},
}, bzip2()...)

// bzip2 returns the signatures of bzip2 with a whole block header, since an address
// may begin with BZh9.
func bzip2() (all []signature) {
	for _, level := range "123456789" {
		all = append(all, signature{"BZh" + string(level) + "\x31\x41\x59\x26\x53\x59", compressed("bzip2", "bzip2 -dc")})
	}
	return all
}

var (
	errUTF32 = errors.New("this is UTF-32: convert it, as with iconv -f UTF-32 -t UTF-8")
	errTwice = errors.New("this is compressed twice with gzip: decompress it once, as with gzip -dc FILE | addrspec check -")
	errNUL   = errors.New("this is not text: it has a NUL byte; save a spreadsheet as CSV UTF-8, and UTF-16 with a byte order mark")
)

func compressed(name, command string) error {
	return errors.New("this is compressed with " + name + ", and only gzip is read: decompress it, as with " + command + " FILE | addrspec check -")
}

// decided reports whether the first bytes that arrived are enough for recognise:
// no more bytes could make them the beginning of another signature.
func decided(head []byte) bool {
	for _, s := range signatures {
		if len(head) < len(s.magic) && strings.HasPrefix(s.magic, string(head)) {
			return false
		}
	}
	return true
}

// recognise returns the signature of the first bytes that arrived, or the zero
// value.
func recognise(head []byte) (found signature) {
	for _, s := range signatures {
		if len(s.magic) > len(found.magic) && bytes.HasPrefix(head, []byte(s.magic)) {
			found = s
		}
	}
	return found
}
