package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// snapshot returns the lines of unicode.txt.gz. Numbers are hexadecimal, but for
// the combining class:
//
//	p FIRST LAST CATEGORY CLASS BIDI JOINING SCRIPT UNSTABLE   properties, with short names
//	l CHARACTER LOWER                      simple lower case
//	d CHARACTER EXCLUDED FIRST [SECOND]    canonical decomposition; 1 if NFC does not compose it
//	m FIRST LAST STATUS [TO ...]           row of the mapping table, with tr46's number of the status
func snapshot(properties, normalization, mapping files) []byte {
	var b bytes.Buffer
	text := string(normalization["pyunormalize/_unicode_data.py"])
	all := characters(properties, dictionary(text, "_NON_ZERO_CCC_TABLE"))
	writeProperties(&b, all)
	for _, c := range all {
		if c.lower != 0 {
			fmt.Fprintf(&b, "l %X %X\n", c.code, c.lower)
		}
	}
	writeDecompositions(&b, dictionary(text, "_DECOMP_BY_CHARACTER"), exclusions(text))
	writeMapping(&b, mapping["package/lib/mappingTable.json"])
	return b.Bytes()
}

// character is an assigned character.
type character struct {
	code, lower rune
	properties  string // as in a line of unicode.txt.gz
}

// characters returns every assigned character, in order.
func characters(properties files, classes map[rune]string) (all []character) {
	for line := range bytes.Lines(dump(properties)) {
		var c character
		var category, bidi, joining, script string
		var unstable bool
		parse(line, &[]any{&c.code, &category, &bidi, &joining, &script, &unstable, &c.lower})
		class, flag := classes[c.code], 0
		if class == "" {
			class = "0"
		}
		if unstable {
			flag = 1
		}
		c.properties = fmt.Sprintf("%s %s %s %.1s %s %d", categories[category], class, bidis[bidi], joining, script, flag)
		all = append(all, c)
	}
	return all
}

// writeProperties writes a line for each run of characters with the same ones.
func writeProperties(b *bytes.Buffer, all []character) {
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].code == all[j-1].code+1 && all[j].properties == all[i].properties {
			j++
		}
		fmt.Fprintf(b, "p %X %X %s\n", all[i].code, all[j-1].code, all[i].properties)
		i = j
	}
}

// dictionaryRow is a row of a dictionary of pyunormalize.
var dictionaryRow = regexp.MustCompile(`(?m)^    0x([0-9A-F]+): \[?(.*?)\]?,$`)

// dictionary returns the values by character.
func dictionary(text, name string) map[rune]string {
	all := map[rune]string{}
	for _, m := range dictionaryRow.FindAllStringSubmatch(section(text, "\n"+name+" = {", "\n}"), -1) {
		all[hex(m[1])] = m[2]
	}
	return all
}

// limits are those of a range in a set of pyunormalize, or a single character.
var limits = regexp.MustCompile(`range\(0x([0-9A-F]+), 0x([0-9A-F]+) \+ 1\)|0x([0-9A-F]+)`)

// exclusions returns the characters that NFC never contains.
func exclusions(text string) map[rune]bool {
	all := map[rune]bool{}
	for _, m := range limits.FindAllStringSubmatch(section(text, "\n_NFC__QC_NO = {", "\n}"), -1) {
		for r := hex(m[1] + m[3]); r <= hex(m[2]+m[3]); r++ {
			all[r] = true
		}
	}
	return all
}

func writeDecompositions(b *bytes.Buffer, all map[rune]string, excluded map[rune]bool) {
	for _, r := range slices.Sorted(maps.Keys(all)) {
		if all[r][0] == '"' {
			continue // a compatibility decomposition
		}
		flag := 0
		if excluded[r] {
			flag = 1
		}
		fmt.Fprintf(b, "d %X %d", r, flag)
		for _, m := range number.FindAllStringSubmatch(all[r], -1) {
			fmt.Fprintf(b, " %X", hex(m[1]))
		}
		b.WriteString("\n")
	}
}

// writeMapping writes tr46's table, whose rows are [character or range, status, to].
func writeMapping(b *bytes.Buffer, table []byte) {
	var rows [][]json.RawMessage
	parse(table, &rows)
	for _, row := range rows {
		var limits [2]rune
		if row[0][0] != '[' {
			row[0] = fmt.Appendf(nil, "[%s,%[1]s]", row[0])
		}
		parse(row[0], &limits)
		fmt.Fprintf(b, "m %X %X %s", limits[0], limits[1], row[1])
		if len(row) == 3 {
			var to string
			parse(row[2], &to)
			b.WriteString(spaced(to))
		}
		b.WriteString("\n")
	}
}

// spaced returns the characters of s in hexadecimal, each after a space.
func spaced(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteString(" " + strings.ToUpper(strconv.FormatInt(int64(r), 16)))
	}
	return b.String()
}

// The short names of categories and bidirectional classes, by the long ones.
var (
	categories = map[string]string{
		"Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt", "Modifier_Letter": "Lm", "Other_Letter": "Lo",
		"Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc", "Enclosing_Mark": "Me",
		"Decimal_Number": "Nd", "Letter_Number": "Nl", "Other_Number": "No",
		"Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe",
		"Initial_Punctuation": "Pi", "Final_Punctuation": "Pf", "Other_Punctuation": "Po",
		"Math_Symbol": "Sm", "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk", "Other_Symbol": "So",
		"Space_Separator": "Zs", "Line_Separator": "Zl", "Paragraph_Separator": "Zp",
		"Control": "Cc", "Format": "Cf", "Private_Use": "Co",
	}
	bidis = map[string]string{
		"Left_To_Right": "L", "Right_To_Left": "R", "Arabic_Letter": "AL",
		"European_Number": "EN", "European_Separator": "ES", "European_Terminator": "ET", "Arabic_Number": "AN", "Common_Separator": "CS",
		"Nonspacing_Mark": "NSM", "Boundary_Neutral": "BN", "Paragraph_Separator": "B", "Segment_Separator": "S", "White_Space": "WS", "Other_Neutral": "ON",
		"Left_To_Right_Embedding": "LRE", "Left_To_Right_Override": "LRO", "Right_To_Left_Embedding": "RLE", "Right_To_Left_Override": "RLO",
		"Pop_Directional_Format": "PDF", "Left_To_Right_Isolate": "LRI", "Right_To_Left_Isolate": "RLI", "First_Strong_Isolate": "FSI", "Pop_Directional_Isolate": "PDI",
	}
)
