package input

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// refused are inputs that cannot be read, with what is read before.
var refused = map[string]struct {
	in      string
	options Options
	emails  []string
	err     string
}{
	"zstd":         {in: "\x28\xb5\x2f\xfd\x04\x00", err: "zstd -dc"},
	"xz":           {in: "\xfd7zXZ\x00\x00\x04", err: "xz -dc"},
	"bzip2":        {in: "BZh91AY&SY\x00", err: "bzip2 -dc"},
	"7-Zip":        {in: "7z\xbc\xaf\x27\x1c\x00\x04", err: "7z x"},
	"ZIP":          {in: "PK\x03\x04\x14\x00\x06\x00", err: "save the sheet as CSV UTF-8"},
	"xls":          {in: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", err: ".xls"},
	"PDF":          {in: "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", err: "PDF"},
	"UTF-32 LE":    {in: "\xff\xfe\x00\x00a\x00\x00\x00", err: "iconv -f UTF-32"},
	"UTF-32 BE":    {in: "\x00\x00\xfe\xff\x00\x00\x00a", err: "iconv -f UTF-32"},
	"binary":       {in: "\x7fELF\x02\x01\x01\x00\x00\x00\x00\n", err: "many NUL bytes"},
	"gzip twice":   {in: gzipped(gzipped("a@mail.example\n")), err: "compressed twice"},
	"xlsx in gzip": {in: gzipped("PK\x03\x04\x14\x00"), err: "spreadsheet"},

	"vCard":                           {in: "BEGIN:VCARD\r\nVERSION:3.0\r\nEMAIL:a@mail.example\r\n", err: "a file of contacts (vCard) and not a list: export the contacts as CSV"},
	"LDIF":                            {in: "version: 1\n\ndn: cn=a,dc=mail,dc=example\nmail: a@mail.example\n", err: "(LDIF)"},
	"LDIF of a search":                {in: "# extended LDIF\n#\n# LDAPv3\n\n# a\ndn:: Y249w6Q=\n", err: "(LDIF)"},
	"HTML":                            {in: "<!DOCTYPE html>\n<html><body>a@mail.example", err: "(HTML)"},
	"a table of HTML":                 {in: "\n<table border=1><tr><td>a@mail.example", err: "(HTML)"},
	"XML":                             {in: "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<contacts>", err: "XML and not a list"},
	"mbox":                            {in: "From a@mail.example Thu Jan  1 00:00:00 2026\nReturn-Path: <a@mail.example>\n", err: "(mbox)"},
	"a message":                       {in: "Delivered-To: a@mail.example\nReceived: by x\n", err: "(mbox)"},
	"SQL":                             {in: "-- MySQL dump 10.13\n--\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `users`;\n", err: "(SQL)"},
	"SQL of PostgreSQL":               {in: "--\n-- PostgreSQL database dump\n--\n\nSET statement_timeout = 0;\nCOPY public.users (id, email) FROM stdin;\n", err: "(SQL)"},
	"SQL of SQLite":                   {in: "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t(email);\n", err: "(SQL)"},
	"a sheet of text":                 {in: "a@mail.example\n", options: Options{Sheet: "2"}, err: "--sheet is for Excel workbooks"},
	"Polish in Windows-1250":          {emails: []string{"a@mail.example"}, in: "name;email\nKowalska;a@mail.example\n\xa3uczak;b@mail.example\nWi\x9cniewska;c@mail.example\n", err: "\n  --encoding windows-1250  Łuczak, Wiśniewska"},
	"a long pipe in another encoding": {in: "Jos\xe9\n" + strings.Repeat("a@mail.example\n", maxAhead/15), err: "line 1 is not UTF-8, and a pipe of more than 16 MiB"},

	"a gzip header that is cut off": {in: "\x1f\x8b\x08", err: "the gzip data cannot be read: unexpected EOF; get the file again"},
	"gzip of an unknown method":     {in: "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00", err: "gzip"},
	"gzip that is cut off":          {in: cut(gzipped("a@mail.example\nb@mail.example\nc@mail.exa"), 9), emails: []string{"a@mail.example", "b@mail.example"}, err: "after record 2, in line 2: the gzip data cannot be read: unexpected EOF"},
	"gzip with a wrong checksum":    {in: flip(gzipped("a@mail.example\n"), 8), emails: []string{"a@mail.example"}, err: "after record 1, in line 1: the gzip data cannot be read"},
	"text after gzip":               {in: gzipped("a@mail.example\n") + "b@mail.example\n", emails: []string{"a@mail.example"}, err: "after record 1, in line 1: the gzip data cannot be read: gzip: invalid header"},

	"an array":           {in: "[\"a@mail.example\",\n\"b@mail.example\"]\n", err: "as with jq -c '.[]' FILE for an array"},
	"objects over lines": {in: "{\n  \"email\": \"a@mail.example\"\n}\n", err: "JSON whose values span lines"},

	"CSV without addresses":       {in: "x,y\n1,2\n", options: Options{Format: CSV}, err: `no column has addresses; name one by its number or name (--column), or give --from text if each line is an address; the columns are 1 "x", 2 "y"`},
	"columns without addresses":   {in: "hello, world\nfoo, bar\n", err: `no column has addresses; name one by its number or name (--column), or give --from text if each line is an address; the columns are 1 "hello", 2 " world"`},
	"another mark than given":     {in: "\xff\xfea\x00", options: Options{Encoding: "windows-1252"}, err: "the encoding windows-1252 was given, but the input begins with the byte order mark of utf-16le"},
	"an unknown encoding":         {in: "a@mail.example\n", options: Options{Encoding: "utf-7"}, err: `no encoding "utf-7"`},
	"addresses beside each other": {in: "a@mail.example; b@mail.example; c@mail.example\n", err: "columns 1 and 2 both have addresses"},
	"two columns of addresses":    {in: "owner,contact\no@mail.example,a@mail.example\n", err: `columns 1 and 2 both have addresses: name one by its number or name (--column), or give one address a line; the columns are 1 "owner", 2 "contact"`},
	"a column that is missing":    {in: "x,email\n1,a@mail.example\n", options: Options{Column: "mail 2"}, err: `there is no column "mail 2"; the columns are 1 "x", 2 "email"`},
	"a column beyond the last":    {in: "x,email\n1,a@mail.example\n", options: Options{Column: "3"}, err: "there is no column 3: the rows have 2"},
	"column zero":                 {in: "x,email\n1,a@mail.example\n", options: Options{Column: "0"}, err: "there is no column 0"},
	"a name of two columns":       {in: "mail,mail\n1,a@mail.example\n", options: Options{Column: "mail"}, err: `columns 1 and 2 are both called "mail"`},
	"a column of text":            {in: "a@mail.example\n", options: Options{Column: "mail"}, err: "leave out --column"},
	"a first row without end":     {in: "\"" + strings.Repeat("x\n", bufferSize), options: Options{Format: CSV}, err: "the first row is longer than 64 KiB"},
}

func cut(s string, n int) string { return s[:len(s)-n] }

// flip changes the byte that is n before the end.
func flip(s string, n int) string {
	b := []byte(s)
	b[len(b)-n] ^= 1
	return string(b)
}

func TestRefuses(t *testing.T) {
	for name, c := range refused {
		t.Run(name, func(t *testing.T) {
			inTurn(t, []byte(c.in), func(t *testing.T, in io.Reader) {
				r := New(in, c.options)
				records, err := readAll(r)
				require.ErrorContains(t, err, c.err)
				require.Equal(t, c.emails, emails(records))
				_, again := r.Read(nil)
				require.Equal(t, err, again, "the error stays")
			})
		})
	}
}

// TestErrorsHaveNoAddresses: an error is copied into reports and logs.
func TestErrorsHaveNoAddresses(t *testing.T) {
	for _, in := range []string{
		"{\"jane@mail.example\":1}", "{\"email\":\"jane@mail.example\\ud800\"}", "{\"email\":\"jane@mail.example\"",
		"{\"email\":\"jane@mail.example\"} jane@mail.example", "email,b\njane@mail.example,c,d\n", "a,email\njane@mail.example\n", "ö\njane\xe9@mail.example\n",
	} {
		records, err := readAll(New(strings.NewReader(in), Options{}))
		require.NoError(t, err)
		bad := records[len(records)-1]
		require.Error(t, bad.Err, in)
		require.NotContains(t, bad.Err.Error(), "jane")
	}
	_, err := readAll(New(strings.NewReader("jane@mail.example,b\n"), Options{Column: "x"}))
	require.EqualError(t, err, `there is no column "x"; the columns are 1 "…", 2 "b"`)
}

func TestErrorOfTheInput(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, start := range []string{"", "a", "\x1f", "\xff\xfea", "a@mail.example\nb@mail.exa", "email,x\n\"a"} {
		_, err := readAll(New(io.MultiReader(strings.NewReader(start), iotest.ErrReader(broken)), Options{}))
		require.ErrorIs(t, err, broken, "%q", start)
	}
	records, err := readAll(New(io.MultiReader(strings.NewReader("a@mail.example\nb@mail.exa"), iotest.ErrReader(broken)), Options{}))
	require.EqualError(t, err, "after record 1, in line 1: disk on fire")
	require.Equal(t, []string{"a@mail.example"}, emails(records), "half an address is none")
}

func TestArguments(t *testing.T) {
	records, err := readAll(FromArguments([]string{"a", "b", "c", "d", "e", "f", "g", "h", ""}))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c", "d", "e", "f", "g", "h", ""}, emails(records))
	require.Zero(t, records[3].Line)
	records, err = readAll(FromArguments(nil))
	require.NoError(t, err)
	require.Empty(t, records)
}

func TestNameOfSeveralFiles(t *testing.T) {
	for several, want := range map[bool]string{true: "x.txt", false: ""} {
		records, err := readAll(New(strings.NewReader("a@mail.example\n"), Options{Name: "x.txt", Several: several}))
		require.NoError(t, err)
		require.Equal(t, want, records[0].File)
	}
}

func TestCellsAsTheyCame(t *testing.T) {
	in := "n,email,note\r\n =1+1 ,a@mail.example,\"x\r\ny \"\"z\"\"\"\r\nö,b@mail.example\r\n\xff,c@mail.example\r\n"
	r := New(strings.NewReader(in), Options{})
	records, err := readAll(r)
	require.NoError(t, err)
	require.Equal(t, []string{" =1+1 ", "a@mail.example", "x\r\ny \"z\""}, records[0].Cells)
	require.Equal(t, []string{"ö", "b@mail.example", ""}, records[1].Cells, "as wide as the table")
	require.Equal(t, errNotUTF8, records[2].Err)
	require.Equal(t, []string{"\uFFFD", "c@mail.example"}, records[2].Cells, "what is written is UTF-8")
	require.Equal(t, 3, r.Layout().Width)
}

func TestObjectAsItCame(t *testing.T) {
	in := "\xef\xbb\xbf  {\"id\": 1.50, \"email\":\"a@mail.example\"}\t\r\n\"b@mail.example\"\n"
	records, err := readAll(New(strings.NewReader(in), Options{}))
	require.NoError(t, err)
	require.Equal(t, `{"id": 1.50, "email":"a@mail.example"}`, string(records[0].Object))
	require.Equal(t, `"b@mail.example"`, string(records[1].Object))
}

// TestRecordsRemain: a record's slices and strings remain valid when more is read.
func TestRecordsRemain(t *testing.T) {
	for _, format := range []string{"x%d@mail.example\n", "x%d@mail.example,y\n", "{\"email\":\"x%d@mail.example\"}\n"} {
		var in strings.Builder
		for n := range 20_000 {
			in.WriteString(strings.Replace(format, "%d", digits(n), 1))
		}
		records, err := readAll(New(strings.NewReader(in.String()), Options{}))
		require.NoError(t, err)
		require.Len(t, records, 20_000)
		for n, r := range records {
			require.Equal(t, "x"+digits(n)+"@mail.example", r.Email)
			require.True(t, r.Cells == nil || r.Cells[0] == r.Email && len(r.Cells) == 2)
			require.True(t, r.Object == nil || string(r.Object) == `{"email":"`+r.Email+`"}`)
		}
	}
}

func digits(n int) string {
	return string(rune('a'+n%26)) + string(rune('a'+n/26%26)) + string(rune('a'+n/676))
}
