package main

import (
	"bytes"
	"fmt"
	"log"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

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
