package input

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// readAll reads all records of in.
func readAll(r pipeline.Input) (all []pipeline.Record, err error) {
	for {
		records, err := r.Read(make([]pipeline.Record, 0, 7))
		all = append(all, records...)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// emails returns the addresses, and the errors of bad records in angle brackets.
func emails(records []pipeline.Record) (list []string) {
	for _, r := range records {
		if r.Err != nil {
			list = append(list, "<"+r.Err.Error()+">")
		} else {
			list = append(list, r.Email)
		}
	}
	return list
}

// inTurn reads in with every way in which it may arrive. What is long does not arrive byte by byte, because the
// beginning is looked at again with each byte.
func inTurn(t *testing.T, in []byte, test func(t *testing.T, in io.Reader)) {
	ways := map[string]io.Reader{
		"at once":       bytes.NewReader(in),
		"byte by byte":  iotest.OneByteReader(bytes.NewReader(in)),
		"error with it": iotest.DataErrReader(bytes.NewReader(in)),
		"halves":        iotest.HalfReader(bytes.NewReader(in)),
	}
	if len(in) > bufferSize/2 {
		delete(ways, "byte by byte")
	}
	for name, in := range ways {
		t.Run(name, func(t *testing.T) { test(t, in) })
	}
}

func gzipped(parts ...string) string {
	var out bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&out)
		w.Write([]byte(part))
		w.Close()
	}
	return out.String()
}

func utf16(order unicode.Endianness, mark unicode.BOMPolicy, text string) string {
	encoded, err := unicode.UTF16(order, mark).NewEncoder().String(text)
	if err != nil {
		panic(err)
	}
	return encoded
}

// A file is a list as people have it, and what is read from it.
type file struct {
	in       string
	options  Options
	format   string
	comma    byte
	preamble [][]string
	header   []string
	column   int
	emails   []string
	lines    []int64
}

// none is a record without an address.
var none = "<" + pipeline.ErrNoAddress.Error() + ">"

// manyIn is a record with several addresses.
var manyIn = "<" + garbled("a@mail.example b@mail.example").Error() + ">"

// noValue is a record of a JSON value that has no address.
const noValue = "<neither a JSON object nor a string: give one a line, as with jq -c '.[]' FILE>"

var files = map[string]file{
	"text":                      {in: "a@mail.example\nb@mail.example\n", format: Text, emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{1, 2}},
	"one line without an end":   {in: "a@mail.example", format: Text, emails: []string{"a@mail.example"}, lines: []int64{1}},
	"nothing":                   {in: "", format: Text},
	"only a mark":               {in: "\xef\xbb\xbf", format: Text},
	"only blank lines":          {in: "\n\r\n \n", format: Text, emails: []string{none, none, none}, lines: []int64{1, 2, 3}},
	"blank lines":               {in: "\n\na@mail.example\n \r\n\rb@mail.example\r", format: Text, emails: []string{none, none, "a@mail.example", none, none, "b@mail.example"}, lines: counted(6)},
	"a blank line at the end":   {in: "a@mail.example\n\n", format: Text, emails: []string{"a@mail.example", none}, lines: counted(2)},
	"CRLF with a mark":          {in: "\xef\xbb\xbfa@mail.example\r\nb@mail.example\r\n", format: Text, emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{1, 2}},
	"CR of an old Mac":          {in: "a@mail.example\rb@mail.example\r", format: Text, emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{1, 2}},
	"white space stays in text": {in: "  a@mail.example \n", format: Text, emails: []string{"  a@mail.example "}, lines: []int64{1}},
	"joined files with marks":   {in: "\xef\xbb\xbfa@mail.example\n\xef\xbb\xbfb@mail.example\n", format: Text, emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{1, 2}},
	"Windows-1252":              {in: "a@mail.example\nandr\xe9@mail.example\n", format: Text, emails: []string{"a@mail.example", "andré@mail.example"}, lines: counted(2)},
	"another encoding later on": {in: "andré@mail.example\nandr\xe9@mail.example\nb@mail.example\n", format: Text, emails: []string{"andré@mail.example", "<" + errNotUTF8.Error() + ">", "b@mail.example"}, lines: counted(3)},
	"a quoted local part":       {in: "\"smith, john\"@mail.example\n", format: Text, emails: []string{`"smith, john"@mail.example`}, lines: []int64{1}},
	"a local part in braces":    {in: "{a}@mail.example\n", format: Text, emails: []string{"{a}@mail.example"}, lines: []int64{1}},
	"an address like bzip2":     {in: "BZh9@mail.example\nPK@mail.example\n", format: Text, emails: []string{"BZh9@mail.example", "PK@mail.example"}, lines: []int64{1, 2}},
	"a bad address first":       {in: "nonsense\na@mail.example\n", format: Text, emails: []string{"nonsense", "a@mail.example"}, lines: []int64{1, 2}},
	"separators by force":       {in: "hello, world\nfoo, bar\n", options: Options{Format: Text}, format: Text, emails: []string{"hello, world", "foo, bar"}, lines: []int64{1, 2}},
	"text by force":             {in: "a,b@mail.example\n", options: Options{Format: Text}, format: Text, emails: []string{"a,b@mail.example"}, lines: []int64{1}},

	"Excel's CSV UTF-8": {in: "\xef\xbb\xbfName,E-Mail,Ort\r\nJörg,jo@mail.example,Köln\r\n", format: CSV, comma: ',', header: []string{"Name", "E-Mail", "Ort"}, column: 1,
		emails: []string{"jo@mail.example"}, lines: []int64{2}},
	"German Excel's CSV in Windows-1252": {in: "Name;E-Mail-Adresse\r\n\"M\xfcller; J\xf6rg\";jo@mail.example\r\n", format: CSV, comma: ';', header: []string{"Name", "E-Mail-Adresse"}, column: 1,
		emails: []string{"jo@mail.example"}, lines: []int64{2}},
	"Excel's Unicode text": {in: utf16(unicode.LittleEndian, unicode.UseBOM, "Name\tMail\r\nZoë\tzoë@mail.example\r\n\"a\tb\"\tb@mail.example\r\n"), format: CSV, comma: '\t', header: []string{"Name", "Mail"}, column: 1,
		emails: []string{"zoë@mail.example", "b@mail.example"}, lines: []int64{2, 3}},
	"UTF-16 big endian without a mark":    {in: utf16(unicode.BigEndian, unicode.IgnoreBOM, "a@mail.example\nb😀@mail.example\n"), format: Text, emails: []string{"a@mail.example", "b😀@mail.example"}, lines: []int64{1, 2}},
	"UTF-16 little endian without a mark": {in: utf16(unicode.LittleEndian, unicode.IgnoreBOM, "a@mail.example"), format: Text, emails: []string{"a@mail.example"}, lines: []int64{1}},
	"CSV for Macintosh":                   {in: "Name,Email\rA,a@mail.example\r\"B\rC\",b@mail.example\rD,d@mail.example", format: CSV, comma: ',', header: []string{"Name", "Email"}, column: 1, emails: []string{"a@mail.example", "b@mail.example", "d@mail.example"}, lines: []int64{2, 3, 5}},
	"Excel's declared separator": {in: "sep=;\r\nname;mail\r\nA, B;a@mail.example\r\n", format: CSV, comma: ';', header: []string{"name", "mail"}, column: 1,
		emails: []string{"a@mail.example"}, lines: []int64{3}},
	"an export like Mailchimp's": {in: "\"Email Address\",\"First Name\",TAGS,OPTIN_TIME\n\"a@mail.example\",\"Ann\",\"\"\"News\"\",\"\"Sale\"\"\",\"2026-01-02 03:04:05\"\n", format: CSV, comma: ',',
		header: []string{"Email Address", "First Name", "TAGS", "OPTIN_TIME"}, column: 0, emails: []string{"a@mail.example"}, lines: []int64{2}},
	"an export like HubSpot's": {in: "Record ID,Email Domain,Last email sent,Email,Owner\n1,mail.example,2026-01-01,a@mail.example,owner@org.example\n2,,,,owner@org.example\n", format: CSV, comma: ',',
		header: []string{"Record ID", "Email Domain", "Last email sent", "Email", "Owner"}, column: 3, emails: []string{"a@mail.example", none}, lines: []int64{2, 3}},
	"blank rows": {in: "\n,\nname,email\n\nA,a@mail.example\n , \nB,\n,b@mail.example\n\n", format: CSV, comma: ',', header: []string{"name", "email"}, column: 1,
		emails: []string{none, "a@mail.example", none, none, "b@mail.example", none}, lines: []int64{4, 5, 6, 7, 8, 9}},
	"blank rows without a header": {in: "\nA,a@mail.example\n\n", format: CSV, comma: ',', column: 1, emails: []string{none, "a@mail.example", none}, lines: counted(3)},
	"line ends within quotes": {in: "email,note\na@mail.example,\"one\r\ntwo\n\nthree\"\nb@mail.example,\n", format: CSV, comma: ',', header: []string{"email", "note"}, column: 0,
		emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{2, 6}},
	"a header that spans lines":      {in: "\"Full\nname\",Email\nA,a@mail.example\n", format: CSV, comma: ',', header: []string{"Full\nname", "Email"}, column: 1, emails: []string{"a@mail.example"}, lines: []int64{3}},
	"a header only":                  {in: "name,email\n", format: CSV, comma: ',', header: []string{"name", "email"}, column: 1},
	"no header":                      {in: "A,a@mail.example\nB,b@mail.example\n", format: CSV, comma: ',', column: 1, emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{1, 2}},
	"a header without a known name":  {in: "who,where\nA,a@mail.example\n", format: CSV, comma: ',', header: []string{"who", "where"}, column: 1, emails: []string{"a@mail.example"}, lines: []int64{2}},
	"a column with a header":         {in: "Email\na@mail.example\n", format: CSV, comma: ',', header: []string{"Email"}, column: 0, emails: []string{"a@mail.example"}, lines: []int64{2}},
	"a column in quotes":             {in: "\"a@mail.example\"\n\"b@mail.example\"\n", format: CSV, comma: ',', column: 0, emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{1, 2}},
	"a long column in quotes":        {in: strings.Repeat("\"a@mail.example\"\n", 5000), format: CSV, comma: ',', column: 0, emails: slices.Repeat([]string{"a@mail.example"}, 5000), lines: counted(5000)},
	"two columns of known names":     {in: "Email,Work Email\na@mail.example,b@mail.example\n", format: CSV, comma: ',', header: []string{"Email", "Work Email"}, column: 0, emails: []string{"a@mail.example"}, lines: []int64{2}},
	"a column by the file's name":    {in: "who\na@mail.example\n", options: Options{Name: "list.CSV.gz"}, format: CSV, comma: ',', header: []string{"who"}, column: 0, emails: []string{"a@mail.example"}, lines: []int64{2}},
	"bars":                           {in: "id|mail\n1|a@mail.example\n", format: CSV, comma: '|', header: []string{"id", "mail"}, column: 1, emails: []string{"a@mail.example"}, lines: []int64{2}},
	"commas within semicolons":       {in: "email;name\na@mail.example;Doe, A\nb@mail.example;Doe, B\n", format: CSV, comma: ';', header: []string{"email", "name"}, column: 0, emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{2, 3}},
	"a quoted local part in CSV":     {in: "mail,n\n\"john smith\"@mail.example,1\n\"\"\"x\"\"@mail.example\",2\n", format: CSV, comma: ',', header: []string{"mail", "n"}, column: 0, emails: []string{`"john smith"@mail.example`, `"x"@mail.example`}, lines: []int64{2, 3}},
	"white space around a cell":      {in: "name, email\nA,  a@mail.example \n", format: CSV, comma: ',', header: []string{"name", " email"}, column: 1, emails: []string{"a@mail.example"}, lines: []int64{2}},
	"TSV by force":                   {in: "a,b@mail.example\tx\n", options: Options{Format: TSV}, format: CSV, comma: '\t', column: 0, emails: []string{"a,b@mail.example"}, lines: []int64{1}},
	"a column by its number":         {in: "a@mail.example,b@mail.example\n", options: Options{Column: "2"}, format: CSV, comma: ',', column: 1, emails: []string{"b@mail.example"}, lines: []int64{1}},
	"a column by its name":           {in: "Email,Other Mail\na@mail.example,b@mail.example\n", options: Options{Column: "other mail"}, format: CSV, comma: ',', header: []string{"Email", "Other Mail"}, column: 1, emails: []string{"b@mail.example"}, lines: []int64{2}},
	"a column by its exact name":     {in: "Email,E-Mail\na@mail.example,b@mail.example\n", options: Options{Column: "E-Mail"}, format: CSV, comma: ',', header: []string{"Email", "E-Mail"}, column: 1, emails: []string{"b@mail.example"}, lines: []int64{2}},
	"a column that is not addresses": {in: "x,y\n1,2\n", options: Options{Column: "y"}, format: CSV, comma: ',', header: []string{"x", "y"}, column: 1, emails: []string{"2"}, lines: []int64{2}},
	"a header by force":              {in: "a@mail.example,1\nb@mail.example,2\n", options: Options{Header: "yes"}, format: CSV, comma: ',', header: []string{"a@mail.example", "1"}, column: 0, emails: []string{"b@mail.example"}, lines: []int64{2}},
	"no header by force":             {in: "email,1\nb@mail.example,2\n", options: Options{Header: "no"}, format: CSV, comma: ',', column: 0, emails: []string{"email", "b@mail.example"}, lines: []int64{1, 2}},
	"rows that are too long or short": {in: "n,mail,t\n1,a@mail.example\n2\n3,b@mail.example,x,,\n4,Doe, c@mail.example,x\n5,d@mail.example,\n", format: CSV, comma: ',', header: []string{"n", "mail", "t"}, column: 1,
		emails: []string{"a@mail.example", "<the row ends after column 1, and the address is in column 2>", "b@mail.example", "<the row has 4 columns instead of 3: a cell with a separator in it needs quotation marks>", "d@mail.example"}, lines: []int64{2, 3, 4, 5, 6}},
	"a quotation mark that is missing": {in: "n,mail\n\"A,a@mail.example\n\"B\",b@mail.example\nC,c@mail.example\n\"D,d@mail.example\nE,e@mail.example\n", format: CSV, comma: ',', header: []string{"n", "mail"}, column: 1,
		emails: []string{"<" + errOpenQuote.Error() + ">", "b@mail.example", "c@mail.example", "<" + errOpenQuote.Error() + ">", "e@mail.example"}, lines: []int64{2, 3, 4, 5, 6}},

	"LinkedIn's notes": {in: "Notes:\n\"When exporting, you may see no addresses\"\n\nFirst Name,Last Name,Email Address\nA,B,a@mail.example\n", format: CSV, comma: ',',
		preamble: [][]string{{"Notes:"}, {"When exporting, you may see no addresses"}, {""}}, header: []string{"First Name", "Last Name", "Email Address"}, column: 2, emails: []string{"a@mail.example"}, lines: []int64{5}},
	"a title of a spreadsheet": {in: "Leads of May;;\n;;\nwho;where;when\nA;a@mail.example;1\n", format: CSV, comma: ';',
		preamble: [][]string{{"Leads of May", "", ""}, {"", "", ""}}, header: []string{"who", "where", "when"}, column: 1, emails: []string{"a@mail.example"}, lines: []int64{4}},
	"comments before one column":    {in: "# exported\n# 2026\nEmail\na@mail.example\n", format: CSV, comma: ',', preamble: [][]string{{"# exported"}, {"# 2026"}}, header: []string{"Email"}, column: 0, emails: []string{"a@mail.example"}, lines: []int64{4}},
	"a name beyond the tenth row":   {in: strings.Repeat("x,y\n", 10) + "name,email\nA,a@mail.example\n", format: CSV, comma: ',', header: []string{"x", "y"}, column: 1, emails: append(slices.Repeat([]string{"y"}, 9), "email", "a@mail.example"), lines: counted(12)[1:]},
	"a known name in a row of data": {in: "name,kind,contact\nA,mail,none\nB,mail,b@mail.example\n", format: CSV, comma: ',', header: []string{"name", "kind", "contact"}, column: 2, emails: []string{"none", "b@mail.example"}, lines: []int64{2, 3}},
	"handles beside addresses":      {in: "@ann,ann@mail.example\n@bob,bob@mail.example\n", format: CSV, comma: ',', column: 1, emails: []string{"ann@mail.example", "bob@mail.example"}, lines: counted(2)},
	"profiles beside addresses":     {in: "https://social.example/@ann,ann@mail.example\n", format: CSV, comma: ',', column: 1, emails: []string{"ann@mail.example"}, lines: counted(1)},
	"the first of known names":      {in: "Alternate email address,User principal name\na@mail.example,b@mail.example\n", format: CSV, comma: ',', header: []string{"Alternate email address", "User principal name"}, column: 1, emails: []string{"b@mail.example"}, lines: []int64{2}},
	"a known name without any yet":  {in: "Owner,Email Address [Required]\no@mail.example,\n", format: CSV, comma: ',', header: []string{"Owner", "Email Address [Required]"}, column: 1, emails: []string{none}, lines: []int64{2}},
	"French Outlook":                {in: "Prénom;Adresse de messagerie;Manager\nA;a@mail.example;m@mail.example\n", format: CSV, comma: ';', header: []string{"Prénom", "Adresse de messagerie", "Manager"}, column: 1, emails: []string{"a@mail.example"}, lines: []int64{2}},
	"Japanese Outlook":              {in: "姓,電子メール アドレス,上司\nA,a@mail.example,m@mail.example\n", format: CSV, comma: ',', header: []string{"姓", "電子メール アドレス", "上司"}, column: 1, emails: []string{"a@mail.example"}, lines: []int64{2}},
	"several addresses in a cell":   {in: "name,email\nA,a@mail.example ::: b@mail.example\nB,\"c@mail.example\nd@mail.example\"\nC,a@mail.example；b@mail.example\nD,Ann <a@mail.example> Bob <b@mail.example>\nE,\"\"\"a@b.example c@d\"\"@mail.example\"\n", format: CSV, comma: ',', header: []string{"name", "email"}, column: 1, emails: []string{manyIn, manyIn, manyIn, manyIn, "\"a@b.example c@d\"@mail.example"}, lines: []int64{2, 3, 5, 6, 7}},
	"several addresses in a line":   {in: "a@mail.example b@mail.example\na@b@mail.example\n", format: Text, emails: []string{manyIn, "a@b@mail.example"}, lines: counted(2)},
	"several addresses in a string": {in: "{\"email\":\"a@mail.example, b@mail.example\"}\n", format: NDJSON, emails: []string{manyIn}, lines: counted(1)},
	"joined tables with marks":      {in: "\xef\xbb\xbf\"email\",n\r\na@mail.example,1\r\n\xef\xbb\xbf\"email\",n\r\nb@mail.example,2\r\n", format: CSV, comma: ',', header: []string{"email", "n"}, column: 0, emails: []string{"a@mail.example", "email", "b@mail.example"}, lines: []int64{2, 3, 4}},
	"a NUL":                         {in: "email,n\na\x00@mail.example,1\nb@mail.example,\x00\n", format: CSV, comma: ',', header: []string{"email", "n"}, column: 0, emails: []string{"<a NUL byte in the address: this is not text>", "b@mail.example"}, lines: []int64{2, 3}},
	"a NUL in the first line":       {in: "a\x00b@mail.example\nb@mail.example\n", format: Text, emails: []string{"<a NUL byte in the address: this is not text>", "b@mail.example"}, lines: counted(2)},
	"a document by force":           {in: "BEGIN:VCARD\na@mail.example\n", options: Options{Format: Text}, format: Text, emails: []string{"BEGIN:VCARD", "a@mail.example"}, lines: counted(2)},
	"an address like HTML":          {in: "<a@mail.example>\n", format: Text, emails: []string{"<a@mail.example>"}, lines: counted(1)},
	"Shift_JIS's full-width space":  {in: "\x8e\x52\x93\x63\x81\x40\x91\xbe\x98\x59,a@mail.example\n\x8d\xb2\x93\xa1\x81\x40\x8c\x92\x88\xea,b@mail.example\n", format: CSV, comma: ',', column: 1, emails: []string{"a@mail.example", "b@mail.example"}, lines: counted(2)},
	"bytes that are no character":   {in: "k\x83@mail.example\nb@mail.example\n", options: Options{Encoding: "sjis"}, format: Text, emails: []string{"kァmail.example", "b@mail.example"}, lines: counted(2)},

	"NDJSON": {in: "{\"email\":\"a@mail.example\",\"id\":1}\n\n {\"id\":2,\"email\":\"\\u0062@mail.example\"} \r\n", format: NDJSON,
		emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{1, 3}},
	"NDJSON without addresses": {in: "{\"email\":\"\"}\n{\"email\":\" \"}\n{\"email\":null}\n\"\"\n", format: NDJSON, emails: []string{none, none, none, none}, lines: counted(4)},
	"NDJSON of strings":        {in: "\"a@mail.example\"\n\"b@mail.example\"\n", options: Options{Name: "x.jsonl"}, format: NDJSON, emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{1, 2}},
	"NDJSON by another key":    {in: "{\"email\":\"x\",\"mail\":\"a@mail.example\"}\n", options: Options{Column: "mail"}, format: NDJSON, emails: []string{"a@mail.example"}, lines: []int64{1}},
	"equal keys and case":      {in: "{\"email\":\"x\",\"email\":\"a@mail.example\",\"EMAIL\":\"y\"}\n{\"Email\":\"b@mail.example\"}\n{\"\\u0065mail\":\"c@mail.example\"}\n{\"x\":{\"email\":\"n\"},\"email\":\"d@mail.example\"}\n", format: NDJSON, emails: []string{"a@mail.example", "b@mail.example", "c@mail.example", "d@mail.example"}, lines: []int64{1, 2, 3, 4}},
	"bad lines of NDJSON": {in: "{\"email\":\"a@mail.example\"}\nnonsense\n{\"email\":7}\n{\"email\":null}\n{\"mail\":\"b\",\"id\":1}\n{\"email\":\"\\ud800\"}\n{\"email\":\"b\xff\"}\n[1]\n7\n{\"email\":\"c\"} {}\n{\"email\":\"d\"\n{\"email\":\"e@mail.example\"}", format: NDJSON,
		emails: []string{"a@mail.example", "<not JSON, or more than one value: byte 2 is unexpected>", `<the value of the key "email" is not a string>`, none,
			`<the object has no key "email"; name one of its own with --column: "id", "mail">`, `<an escape from \ud800 to \udfff without the other half of its pair, which is no character>`, "<not JSON: it is not UTF-8 (RFC 8259 section 8.1)>",
			noValue, noValue, "<not JSON, or more than one value: byte 15 is unexpected>", "<not JSON, or more than one value: byte 13 is unexpected>", "e@mail.example"}, lines: []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},

	"gzip":                    {in: gzipped("email;n\na@mail.example;1\n"), format: CSV, comma: ';', header: []string{"email", "n"}, column: 0, emails: []string{"a@mail.example"}, lines: []int64{2}},
	"gzip of several members": {in: gzipped("a@mail.exa", "", "mple\nb@mail.example\n"), format: Text, emails: []string{"a@mail.example", "b@mail.example"}, lines: []int64{1, 2}},
	"gzip of UTF-16":          {in: gzipped(utf16(unicode.LittleEndian, unicode.UseBOM, "a@mail.example\n")), format: Text, emails: []string{"a@mail.example"}, lines: []int64{1}},
	"half a surrogate pair":   {in: utf16(unicode.LittleEndian, unicode.UseBOM, "a@mail.example\nb") + "\x00\xd8" + utf16(unicode.LittleEndian, unicode.IgnoreBOM, "@mail.example\n"), format: Text, emails: []string{"a@mail.example", "<" + whole([]string{"\uFFFD"}, "utf-16le").Error() + ">"}, lines: []int64{1, 2}},
	"line breaks in UTF-16":   {in: utf16(unicode.LittleEndian, unicode.UseBOM, "上海@mail.example\r\n\u0a0d@mail.example\r\n"), format: Text, emails: []string{"上海@mail.example", "\u0a0d@mail.example"}, lines: counted(2)},
	"UTF-16 that was cut off": {in: utf16(unicode.BigEndian, unicode.UseBOM, "a@mail.example\nb@m") + "\x00", format: Text, emails: []string{"a@mail.example", "<" + whole([]string{"\uFFFD"}, "utf-16be").Error() + ">"}, lines: []int64{1, 2}},
}

func counted(n int64) (lines []int64) {
	for line := range n {
		lines = append(lines, line+1)
	}
	return lines
}

// What is known of the encoding at the end of an input.
func TestEncodings(t *testing.T) {
	mark := func(order unicode.Endianness) string { return utf16(order, unicode.UseBOM, "a@mail.example\n") }
	long := strings.Repeat("x", bufferSize-1)
	for name, c := range map[string]struct {
		in, given string
		want      pipeline.Reading
	}{
		"ASCII":                     {in: "a@mail.example\n", want: pipeline.Reading{Encoding: "utf-8", Why: "all of it is ASCII"}},
		"nothing":                   {want: pipeline.Reading{Encoding: "utf-8", Why: "all of it is ASCII"}},
		"UTF-8":                     {in: "a@mail.example\r\njörg@mail.example\n\xe9", want: pipeline.Reading{Encoding: "utf-8", Why: "line 2, the first that is not ASCII, is UTF-8"}},
		"UTF-8 in gzip":             {in: gzipped("ö@mail.example"), want: pipeline.Reading{Encoding: "utf-8", Why: "line 1, the first that is not ASCII, is UTF-8"}},
		"a mark":                    {in: "\xef\xbb\xbf\xe9@mail.example\n", want: pipeline.Reading{Encoding: "utf-8", Why: "it begins with a byte order mark", Mark: true}},
		"Windows-1252":              {in: "a@mail.example\nb@mail.example\n\xf6@mail.example\nJ\xf6rg", want: pipeline.Reading{Encoding: "windows-1252", Why: "line 3 is not UTF-8, and all words fit", Guessed: true, Mark: true}},
		"UTF-16 LE":                 {in: mark(unicode.LittleEndian), want: pipeline.Reading{Encoding: "utf-16le", Why: "it begins with a byte order mark", Mark: true}},
		"UTF-16 BE":                 {in: mark(unicode.BigEndian), want: pipeline.Reading{Encoding: "utf-16be", Why: "it begins with a byte order mark", Mark: true}},
		"UTF-16 without a mark":     {in: mark(unicode.BigEndian)[2:], want: pipeline.Reading{Encoding: "utf-16be", Why: "every second byte is zero", Mark: true}},
		"given":                     {in: "a@mail.example\n\xe9\n", given: "windows-1252", want: pipeline.Reading{Encoding: "windows-1252", Why: "it was given", Mark: true}},
		"given beside its mark":     {in: mark(unicode.LittleEndian), given: "utf-16le", want: pipeline.Reading{Encoding: "utf-16le", Why: "it was given", Mark: true}},
		"given in place of a guess": {in: "a@mail.example\n\xe9\n", given: "utf-8", want: pipeline.Reading{Encoding: "utf-8", Why: "it was given"}},
		"a long line of UTF-8":      {in: strings.Repeat("é", bufferSize), want: pipeline.Reading{Encoding: "utf-8", Why: "line 1, the first that is not ASCII, is UTF-8"}},
		"a cut character":           {in: "é" + long + "é\n", want: pipeline.Reading{Encoding: "utf-8", Why: "line 1, the first that is not ASCII, is UTF-8"}},
	} {
		t.Run(name, func(t *testing.T) {
			inTurn(t, []byte(c.in), func(t *testing.T, in io.Reader) {
				r := New(in, Options{Format: Text, Encoding: c.given})
				_, err := readAll(r)
				require.NoError(t, err)
				require.Equal(t, c.want, r.Reading())
			})
		})
	}
}

func TestFiles(t *testing.T) {
	for name, f := range files {
		t.Run(name, func(t *testing.T) {
			inTurn(t, []byte(f.in), func(t *testing.T, in io.Reader) {
				r := New(in, f.options)
				records, err := readAll(r)
				require.NoError(t, err)
				require.Equal(t, f.emails, emails(records))
				var lines []int64
				for _, record := range records {
					lines = append(lines, record.Line)
				}
				require.Equal(t, f.lines, lines)
				require.Equal(t, f.format, r.layout.format)
				require.Equal(t, string(rune(f.comma)), string(rune(r.Layout().Comma)))
				require.Equal(t, f.preamble, r.Layout().Preamble)
				require.Equal(t, f.header, r.Layout().Header)
				require.Equal(t, max(0, f.column), r.layout.column)
			})
		})
	}
}

// TestHandlesUnderAKnownName: a known name alone does not make a column of addresses.
func TestHandlesUnderAKnownName(t *testing.T) {
	records, err := readAll(New(strings.NewReader("Email,Contact\n@ann,ann@mail.example\n"), Options{}))
	require.NoError(t, err)
	require.Equal(t, []string{"ann@mail.example"}, emails(records))
}
