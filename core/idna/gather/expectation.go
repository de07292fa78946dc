package main

import (
	"bytes"
	"fmt"
	"log"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// expectation returns the lines of expect.txt.gz. Numbers are hexadecimal:
//
//	class NAME FIRST END                  RFC 5892: PVALID, CONTEXTJ, CONTEXTO
//	joining TYPE FIRST END                Joining_Type; U is left out
//	uts46 FIRST STATUS [TO ...]           up to the next line: V, M, I, X (valid, mapped, ignored, disallowed), D (ß and the like)
//	lower CHARACTER LOWER                 simple lower case, beyond ASCII
//	virama CHARACTER                      canonical combining class 9
//	nfc SOURCE;NFC;NFD                    normalization
func expectation(implementation files) []byte {
	var b bytes.Buffer
	properties, mapping := string(implementation["idna/idnadata.py"]), string(implementation["idna/uts46data.py"])
	for _, text := range []string{properties, mapping} {
		if !strings.Contains(text, fmt.Sprintf("__version__ = %q", version)) {
			log.Fatalf("%s does not have Unicode %s", idna.spec, version)
		}
	}
	writeRanges(&b, "class", section(properties, "codepoint_classes = {", "\n}"))
	writeRanges(&b, "joining", section(properties, "joining_types = {", "\n}"))
	writeUTS46(&b, mapping)
	writeLower(&b)
	writeNormalization(&b)
	return b.Bytes()
}

var rangeOrName = regexp.MustCompile(`"([A-Z]+)":|0x([0-9A-F]+)`)

// writeRanges writes the ranges of a dictionary: first<<32 | end.
func writeRanges(b *bytes.Buffer, kind, dictionary string) {
	name := ""
	for _, m := range rangeOrName.FindAllStringSubmatch(dictionary, -1) {
		if m[1] != "" {
			name = m[1]
			continue
		}
		n, err := strconv.ParseUint(m[2], 16, 64)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintf(b, "%s %s %X %X\n", kind, name, n>>32, n&0xFFFFFFFF)
	}
}

var (
	status = regexp.MustCompile(`b"([A-Z]+)"`)
	quoted = regexp.MustCompile(`(?m)^    (None|".*"|'.*'),$`)
)

// writeUTS46 writes the mapping, which is in three arrays of the same length.
func writeUTS46(b *bytes.Buffer, mapping string) {
	starts := number.FindAllStringSubmatch(section(mapping, "uts46_starts", "\n)"), -1)
	replacements := quoted.FindAllStringSubmatch(section(mapping, "uts46_replacements", "\n)"), -1)
	statuses := ""
	for _, m := range status.FindAllStringSubmatch(section(mapping, "uts46_statuses", "\n)"), -1) {
		statuses += m[1]
	}
	if len(starts) != len(statuses) || len(starts) != len(replacements) {
		log.Fatalf("%s: %d starts, %d statuses, %d replacements", idna.spec, len(starts), len(statuses), len(replacements))
	}
	for i := range starts {
		fmt.Fprintf(b, "uts46 %s %c%s\n", starts[i][1], statuses[i], unquote(replacements[i][1]))
	}
}

// unquote returns the characters of a string of Python, each after a space. Its
// escapes are those of Go.
func unquote(s string) string {
	if s == "None" {
		return ""
	}
	if s[0] == '\'' {
		s = strconv.Quote(s[1 : len(s)-1])
	}
	to, err := strconv.Unquote(s)
	if err != nil {
		log.Fatalf("%s: %v", s, err)
	}
	return spaced(to)
}

// writeLower writes the lower case by Go's standard library.
func writeLower(b *bytes.Buffer) {
	if unicode.Version != version {
		log.Fatalf("this version of Go has Unicode %s; use GOTOOLCHAIN=go1.27.0", unicode.Version)
	}
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		if l := unicode.ToLower(r); l != r {
			fmt.Fprintf(b, "lower %X %X\n", r, l)
		}
	}
}

// writeNormalization writes the viramas, and texts with their NFC and NFD, by
// x/text: what NormalizationTest has besides Hangul. The texts are every
// character that is not in both forms, the first step of every pair that composes,
// each mark among others in both orders, and three Kirat Rai vowels that compose
// with each other.
func writeNormalization(b *bytes.Buffer) {
	if norm.Version != version {
		log.Fatalf("x/text has Unicode %s", norm.Version)
	}
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		if r >= 0xAC00 && r <= 0xDFFF {
			continue
		}
		s, class := string(r), norm.NFC.PropertiesString(string(r)).CCC()
		if class == 9 {
			fmt.Fprintf(b, "virama %X\n", r)
		}
		if !norm.NFC.IsNormalString(s) || !norm.NFD.IsNormalString(s) {
			writeForms(b, s)
		}
		if class != 0 {
			writeForms(b, "a\u0315\u0300\u05AE"+s+"b")
			writeForms(b, "a"+s+"\u0315\u0300\u05AEb")
		}
	}
	vowels := []rune{0x16D63, 0x16D67, 0x16D68, 0x16D69, 0x16D6A}
	for i := range 5 * 5 * 5 * 5 {
		writeForms(b, string([]rune{vowels[i/125], vowels[i/25%5], vowels[i/5%5], vowels[i%5]}))
	}
}

func writeForms(b *bytes.Buffer, s string) {
	fmt.Fprintf(b, "nfc%s;%s;%s\n", spaced(s), spaced(norm.NFC.String(s)), spaced(norm.NFD.String(s)))
}
