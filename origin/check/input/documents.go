package input

import (
	"errors"
	"regexp"

	"github.com/addrspec/addrspec/origin/check/input/charset"
)

// A signature is how files of a format begin.
type signature struct {
	magic    string
	encoding string // that such a byte order mark names (Unicode 16, section 23.8)
	err      error  // why such a file is not read; nil if it is
}

const (
	gzipMagic = "\x1f\x8b"
	markUTF8  = "\xef\xbb\xbf"
	zipMagic  = "PK\x03\x04"
	saveSheet = "open it and save the sheet as CSV UTF-8"
)

// signatures are the formats that are recognised before their encoding, by the first that fits.
// Addresses do not begin with any of them whole: with BZh9 they may.
var signatures = []signature{
	{magic: gzipMagic, err: errors.New("this is compressed twice with gzip: decompress it once, " +
		"as with gzip -dc FILE | addrspec check -")},
	{magic: "\xff\xfe\x00\x00", err: errUTF32},
	{magic: "\x00\x00\xfe\xff", err: errUTF32},
	{magic: markUTF8, encoding: charset.UTF8},
	{magic: "\xff\xfe", encoding: charset.UTF16LE},
	{magic: "\xfe\xff", encoding: charset.UTF16BE},
	{magic: "\x28\xb5\x2f\xfd", err: compressed("Zstandard", "zstd -dc")},
	{magic: "\xfd7zXZ\x00", err: compressed("xz", "xz -dc")},
	{magic: "\x04\x22\x4d\x18", err: compressed("LZ4", "lz4 -dc")},
	{magic: "7z\xbc\xaf\x27\x1c", err: compressed("7-Zip", "7z x -so")},
	{magic: "BZh91AY&SY", err: compressed("bzip2", "bzip2 -dc")}, // 9 is the level that all tools write
	{magic: zipMagic, err: errors.New("this is a ZIP archive or a spreadsheet: unpack an archive; give a workbook " +
		"(.xlsx) by its name and not in a pipe or gzip; of another spreadsheet (.ods), " + saveSheet)},
	{magic: "PK\x05\x06", err: errors.New("this is an empty ZIP archive")},
	{magic: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", err: errors.New("this is an Excel workbook of the old format " +
		"(.xls) or with a password, or another old Office document, and not text: " + saveSheet)},
	{magic: "%PDF-", err: errors.New("this is a PDF document: take the list from where it was made, as CSV or text")},
}

var errUTF32 = errors.New("this is UTF-32: convert it, as with iconv -f UTF-32 -t UTF-8")

func compressed(name, command string) error {
	return errors.New("this is compressed with " + name + ", and only gzip is read: decompress it, " +
		"as with " + command + " FILE | addrspec check -")
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
