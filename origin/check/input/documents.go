package input

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A signature is how files of a format begin.
type signature struct {
	magic string
	err   error // why such a file is not read; nil if it is
}

const (
	gzipMagic = "\x1f\x8b"
	zipMagic  = "PK\x03\x04"
	saveSheet = "open it and save the sheet as CSV UTF-8"
)

// signatures are the formats that are recognised before their encoding. Addresses
// do not begin with any of them whole: with BZh9 they may.
var signatures = func() []signature {
	all := []signature{
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
		{zipMagic, nil}, // see zipped
		{"PK\x05\x06", errors.New("this is an empty ZIP archive")},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", errors.New("this is an Excel workbook of the old format (.xls) or with a " +
			"password, or another old Office document, and not text: " + saveSheet)},
		{"%PDF-", errors.New("this is a PDF document: take the list from where it was made, as CSV or text")},
	}
	for _, level := range "123456789" {
		all = append(all, signature{"BZh" + string(level) + "\x31\x41\x59\x26\x53\x59", compressed("bzip2", "bzip2 -dc")})
	}
	return all
}()

var (
	errUTF32 = errors.New("this is UTF-32: convert it, as with iconv -f UTF-32 -t UTF-8")
	errTwice = errors.New("this is compressed twice with gzip: decompress it once, " +
		"as with gzip -dc FILE | addrspec check -")
	errNUL = errors.New("this is not text: it has many NUL bytes; save a spreadsheet as CSV UTF-8, " +
		"and UTF-16 with a byte order mark")
)

func compressed(name, command string) error {
	return errors.New("this is compressed with " + name + ", and only gzip is read: decompress it, as with " + command +
		" FILE | addrspec check -")
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

// zipped returns the error of a ZIP archive by the names in its beginning. That of
// OpenDocument begins with its media type (OpenDocument 1.3 part 2, section 3.3).
func zipped(head []byte) error {
	switch {
	case bytes.Contains(head, []byte("opendocument.spreadsheet")):
		return errors.New("this is an OpenDocument spreadsheet (.ods) and not text: " + saveSheet)
	case bytes.Contains(head, []byte("xl/")):
		return errors.New("this is an Excel workbook (.xlsx), which is read from a file and not from a pipe or gzip: " +
			"give its name")
	}
	return errors.New("this is a ZIP archive or a spreadsheet: unpack an archive; " +
		"give a workbook (.xlsx) by its name and not in a pipe; of another spreadsheet, " + saveSheet)
}

// documents are texts that are no lists, by how they begin. Every line of them would be an address
// that is not valid.
var documents = []struct {
	begins       *regexp.Regexp
	name, advice string
}{
	{regexp.MustCompile(`(?i)^BEGIN:V(CARD|CALENDAR)`), "a file of contacts (vCard)", exportContacts},
	{regexp.MustCompile(`(?i)^(#.*\s+)*(version: ?\d+\s+)?(#.*\s+)*dn::? ?\S+=`), "a directory's export (LDIF)",
		"export the attribute mail as text, as with ldapsearch -LLL mail | sed -n 's/^mail: //p'"},
	{regexp.MustCompile(`(?i)^(<!--[\s\S]*?-->\s*)?<(!doctype\s+html|html|head|body|table)\b`), "a web page (HTML)",
		"export the list as CSV, or copy the table into a spreadsheet and save that as CSV UTF-8"},
	{regexp.MustCompile(`^<\?xml\b`), "XML", "export the list as CSV or JSON"},
	{regexp.MustCompile(`^From \S.*\d{4}\r?\n[A-Za-z-]+: |^(?i:Return-Path|Received|Delivered-To|X-Gmail-Labels|` +
		`Message-ID|MIME-Version|X-GM-THRID|DKIM-Signature): `), "a message or a mailbox (mbox)", exportContacts},
	{regexp.MustCompile(`(?i)^(--[^\n]*\s+|/\*[\s\S]*?\*/;?\s*|(SET|USE|PRAGMA|BEGIN|LOCK|START)\b[^;\n]*;\s*)*` +
		`(CREATE\s+(TABLE|DATABASE|SCHEMA)|INSERT\s+INTO|DROP\s+TABLE|COPY\s+\S+\s*\(.*FROM\s+stdin)\b`),
		"a dump of a database (SQL)", "export the table as CSV, as with COPY … TO … WITH CSV HEADER"},
	{regexp.MustCompile(`^\{\\rtf`), "a text document (RTF)", "save the list as plain text or as CSV UTF-8"},
}

const exportContacts = "export the contacts as CSV"

// refuse returns an error for text that begins like a document.
func refuse(beginning []byte) error {
	beginning = bytes.TrimSpace(beginning[:min(len(beginning), 4<<10)])
	for _, d := range documents {
		if d.begins.Match(beginning) {
			return fmt.Errorf("this is %s and not a list: %s instead; with --from text, each line is an address all the same",
				d.name, d.advice)
		}
	}
	return nil
}
