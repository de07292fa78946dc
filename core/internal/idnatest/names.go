package idnatest

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"iter"
	"regexp"
	"strconv"
	"strings"
)

//go:embed names.txt.gz
var packedNames []byte

// Name is a test of a whole domain name by UTS #46. Statuses are those of ToASCII without
// transitional processing; a name without any is valid and becomes Host.
type Name struct{ Source, Mapped, Host, Statuses string }

// Names returns the rows of Unicode's IdnaTestV2.txt.
func Names() iter.Seq[Name] {
	return func(yield func(Name) bool) {
		z, err := gzip.NewReader(bytes.NewReader(packedNames))
		if err != nil {
			panic(err)
		}
		for lines := bufio.NewScanner(z); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "#") {
				continue
			}
			c := strings.Split(lines.Text(), ";") // an empty column means that of the step before
			n := Name{Source: unescaped(c[0]), Mapped: unescaped(cmp.Or(c[1], c[0]))}
			n.Host, n.Statuses = cmp.Or(c[3], n.Mapped), strings.Trim(cmp.Or(c[4], c[2]), "[]")
			if !yield(n) {
				return
			}
		}
	}
}

var escape = regexp.MustCompile(`\\u([0-9A-F]{4})|\\x\{([0-9A-F]+)\}`)

// unescaped replaces \uXXXX and \x{XXXX}; a surrogate becomes malformed UTF-8.
func unescaped(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		n, err := strconv.ParseUint(strings.Trim(e[2:], "{}"), 16, 32)
		if err != nil {
			panic(err)
		}
		if n >= 0xD800 && n <= 0xDFFF {
			return "\xed"
		}
		return string(rune(n))
	})
}
