package workbook

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

const (
	mainSpace  = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	linkSpace  = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	sheetName  = "xl/worksheets/sheet1.xml"
	stringName = "xl/sharedStrings.xml"
	linkName   = "xl/_rels/workbook.xml.rels"
	styleName  = "xl/styles.xml"
)

// link is a relationship of a kind and a target.
func link(kind, target string) string {
	return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="r1" Type="` + linkSpace + kind + `" Target="` + target + `"/></Relationships>`
}

// rows is a sheet.
func rows(rows string) string {
	return `<worksheet ` + mainSpace + `><sheetData>` + rows + `</sheetData></worksheet>`
}

// styles are number formats. That of style 1 is to be filled in.
const styles = `<styleSheet ` + mainSpace + `><numFmts><numFmt numFmtId="200" formatCode="%s"/>` +
	`<numFmt numFmtId="201" formatCode="000"/></numFmts><cellXfs><xf/><xf numFmtId="200"/>` +
	`<xf numFmtId="201"/><xf numFmtId="14"/><xf numFmtId="10"/></cellXfs></styleSheet>`

// plain is a workbook of two rows.
var plain = map[string]string{
	"_rels/.rels": link("/officeDocument", "xl/workbook.xml"),
	"xl/workbook.xml": `<workbook ` + mainSpace + ` xmlns:r="` + linkSpace + `"><sheets>` +
		`<sheet name="List" sheetId="1" r:id="r1"/></sheets></workbook>`,
	linkName: link("/worksheet", "worksheets/sheet1.xml"),
	stringName: `<sst ` + mainSpace + `><si><t>email</t></si>` +
		`<si><r><t>a@</t></r><r><t>b.example</t></r></si></sst>`,
	sheetName: rows(`<row r="1"><c r="A1" t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c></row>`),
}

// file is a workbook of the plain parts and others.
func file(t testing.TB, others map[string]string) *os.File {
	out, err := os.Create(filepath.Join(t.TempDir(), "list.xlsx"))
	require.NoError(t, err)
	t.Cleanup(func() { out.Close() })
	w := zip.NewWriter(out)
	parts := maps.Clone(plain)
	maps.Copy(parts, others)
	for name, text := range parts {
		part, err := w.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(part, text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out
}

// read returns the text of a sheet. It requires that no temporary file is left.
func read(t testing.TB, in *os.File, sheet string) (*Sheet, string, error) {
	t.Setenv("TMPDIR", t.TempDir())
	defer func() {
		left, err := os.ReadDir(os.TempDir())
		require.NoError(t, err)
		require.Empty(t, left)
	}()
	s, err := Open(in, sheet, "")
	if err != nil {
		require.Nil(t, s)
		return nil, "", err
	}
	defer func() { require.NoError(t, s.Close()) }()
	text, err := io.ReadAll(s)
	return s, string(text), err
}

func TestCells(t *testing.T) {
	for _, c := range []struct{ want, cells string }{
		{"email,a@b.example\n", `<c t="s"><v>0</v></c><c t="s"><v> 1 </v></c>`},
		{"x,,y\n", `<c t="inlineStr"><is><t>x</t></is></c><c r="C1" t="str"><f>A1</f><v>y</v></c>`},
		{"\"a\r\nb \"\"c\"\"\"\n", "<c t=\"inlineStr\"><is><t>a_x000D_\nb \"c\"</t></is></c>"},
		{"\n\n1\n\n2\n", `</row><row r="3"><c><v>1</v></c></row><row r="4"/><row><c><v>2</v></c></row><row><c/>`},
		{"TRUE,FALSE,#N/A\n", `<c t="b"><v>1</v></c><c t="b"><v>0</v></c><c t="e"><v>#N/A</v></c>`},
		{"1234567890123,0.3\n", `<c><v>1234567890123</v></c><c><v>0.30000000000000004</v></c>`},
		{"2023-03-15,15.03.2023\n", `<c s="3"><v>45000</v></c><c s="1"><v>45000.5</v></c>`},
		{"50.00%,007\n", `<c s="4"><v>0.5</v></c><c s="2"><v>7</v></c>`},
	} {
		sheet, styles := rows(`<row>`+c.cells+`</row>`), fmt.Sprintf(styles, "dd.mm.yyyy")
		_, got, err := read(t, file(t, map[string]string{sheetName: sheet, styleName: styles}), "")
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

func TestSheets(t *testing.T) {
	book := excelize.NewFile()
	for _, name := range []string{"Secret", "List", "2"} {
		_, err := book.NewSheet(name)
		require.NoError(t, err)
		require.NoError(t, book.SetCellStr(name, "A1", "in "+name))
	}
	require.NoError(t, book.SetSheetVisible("Secret", false))
	name := filepath.Join(t.TempDir(), "list.xlsm")
	require.NoError(t, book.SaveAs(name))
	in, err := os.Open(name)
	require.NoError(t, err)
	defer in.Close()
	for asked, want := range map[string]string{"": "List", "secret": "Secret", "2": "2", "3": "List"} {
		s, got, err := read(t, in, asked)
		require.NoError(t, err)
		require.Equal(t, "in "+want+"\n", got)
		require.Equal(t, want, s.Name)
		require.Len(t, s.Others, 3)
		require.NotContains(t, s.Others, want)
	}
	_, got, err := read(t, in, "Sheet1")
	require.NoError(t, err)
	require.Empty(t, got)
	for _, unknown := range []string{"0", "5", "-1", "Lists"} {
		_, _, err = read(t, in, unknown)
		require.ErrorContains(t, err, `no sheet "`+unknown+`": name one of its 4: ["Sheet1" "Secret" "List" "2"]`)
	}
}

func TestOnlyScannedPartsAreCopied(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, scan(file(t, map[string]string{
		"xl/vbaProject.bin": "x", "xl/externalLinks/externalLink1.xml": "<",
		"xl/worksheets/_rels/sheet1.xml.rels": "<",
		"xl/media/a.png":                      "x", `xl\styles.xml`: `<styleSheet ` + mainSpace + `/>`,
	}), &out))
	copied, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	var got []string
	for _, part := range copied.File {
		got = append(got, part.Name)
	}
	require.ElementsMatch(t, append(slices.Collect(maps.Keys(plain)), "xl/styles.xml"), got)
}

// TestRefused has what excelize reads as less, as something else, or without a bound.
func TestRefused(t *testing.T) {
	type parts = map[string]string
	row := func(cells string) parts { return parts{sheetName: rows(`<row r="2">` + cells + `</row>`)} }
	target := func(target string) parts { return parts{linkName: link("/worksheet", target)} }
	shared := func(text string) parts { return parts{stringName: `<sst>` + text + `</sst>`} }
	for _, c := range []struct {
		want  string
		parts parts
	}{
		{"more than 1000 columns have values", row(`<c r="XFD2" t="inlineStr"><is><t>x</t></is></c>`)},
		{"a cell or tag is longer", row(`<c><is>` + strings.Repeat("<t>xxxxxxxx</t>", maxPiece/10) + `</is></c>`)},
		{"a cell or tag is longer", row(`<c r="` + strings.Repeat("A", 2*maxPiece) + `"/>`)},
		{"a cell or tag is longer", shared(`<si><t>` + strings.Repeat("x", 2*maxPiece) + `</t></si>`)},
		{"row number exceeds maximum limit", parts{sheetName: rows(`<row r="1048577"><c><v>1</v></c></row>`)}},
		{"more than 64 elements", parts{sheetName: strings.Repeat("<a>", 65) + strings.Repeat("</a>", 65)}},
		{`"xl/worksheets/sheet1.xml": EOF: save it anew with Excel`, parts{sheetName: ""}},
		{`"xl/styles.xml": XML syntax error`, parts{styleName: "<styleSheet>"}},
		{"invalid character entity &a;", parts{stringName: `<!DOCTYPE sst [<!ENTITY a "b">]><sst>&a;</sst>`}},
		{"larger than 16777216 bytes", parts{styleName: strings.Repeat(" ", maxSmall+1)}},
		{"sheet List does not exist", target("../../../../etc/passwd")},
		{"sheet List does not exist", target("file:///etc/passwd")},
		{"sheet List does not exist", target(`http://localhost/sheet1.xml" TargetMode="External`)},
		{"no visible sheet", target("_rels/workbook.xml.rels")},
		{"expected element type <workbook>", parts{"_rels/.rels": link("/officeDocument", "_rels/.rels")}},
		{"no visible sheet", parts{"xl/workbook.xml": `<workbook ` + mainSpace + `/>`}},
		{"no visible sheet", parts{sheetName: rows(`<row r="9"><c s="1"/></row>`)}},
	} {
		_, _, err := read(t, file(t, c.parts), "")
		require.ErrorContains(t, err, c.want)
	}
	full := scanner{strings: maxStrings}
	require.EqualError(t, full.element(nil, xml.StartElement{Name: xml.Name{Local: "si"}}), "more than 4194304 shared strings")
}

// TestRefusedArchive has archives that lie or are too large.
func TestRefusedArchive(t *testing.T) {
	for want, sizes := range map[string][]uint64{
		"larger than 1073741824 bytes": {maxUnpacked + 1},
		"or all parts than 1073741824": {4, maxUnpacked},
		"not a valid zip file":         {3},
		"unexpected EOF":               {5},
	} {
		in, err := os.Create(filepath.Join(t.TempDir(), "list.xlsx"))
		require.NoError(t, err)
		w := zip.NewWriter(in)
		for n, size := range sizes {
			name := fmt.Sprintf("xl/worksheets/sheet%d.xml", n)
			part, err := w.CreateRaw(&zip.FileHeader{Name: name, CompressedSize64: 4, UncompressedSize64: size})
			require.NoError(t, err)
			_, err = io.WriteString(part, "<a/>")
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		_, _, err = read(t, in, "")
		require.ErrorContains(t, err, want)
		require.NoError(t, in.Close())
	}
}

// TestDamaged cuts a sheet everywhere before the end of its rows, and changes bytes of a file.
func TestDamaged(t *testing.T) {
	sheet := plain[sheetName]
	for n := range strings.Index(sheet, "</worksheet>") {
		_, _, err := read(t, file(t, map[string]string{sheetName: sheet[:n]}), "")
		require.Error(t, err)
	}
	whole, err := os.ReadFile(file(t, nil).Name())
	require.NoError(t, err)
	in := file(t, nil)
	for n := 0; n < len(whole); n += 3 {
		_, err = in.WriteAt([]byte{whole[n] ^ 1}, int64(n))
		require.NoError(t, err)
		_, got, err := read(t, in, "")
		require.True(t, err != nil || got == "email\na@b.example\n", "byte %d: %q", n, got)
		_, err = in.WriteAt(whole[n:n+1], int64(n))
		require.NoError(t, err)
	}
}

// TestCaught makes excelize panic: there is no workbook.
func TestCaught(t *testing.T) {
	_, err := new(Sheet).write(nil, []string{"List"}, 0)
	require.ErrorContains(t, err, "a format of the workbook cannot be read")
}

// FuzzOpen: no sheet and no code of a number format makes it panic or wait for ever.
func FuzzOpen(f *testing.F) {
	f.Add(plain[sheetName])
	f.Add(`[$-409]mmmm\ d\,\ yyyy;@`)
	f.Fuzz(func(t *testing.T, text string) {
		parts := map[string]string{sheetName: text}
		if !strings.HasPrefix(text, "<") {
			var code strings.Builder
			require.NoError(t, xml.EscapeText(&code, []byte(text[:min(len(text), 512)])))
			parts = map[string]string{
				styleName: fmt.Sprintf(styles, code.String()),
				sheetName: rows(`<row><c s="1"><v>45000.5</v></c><c s="1"><v>-1e300</v></c></row>`),
			}
		}
		s, err := Open(file(t, parts), "", "")
		if err == nil {
			require.NoError(t, s.Close())
		}
	})
}
