package idnatest

import (
	"bufio"
	"bytes"
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
			if !yield(readName(strings.Split(lines.Text(), ";"))) {
				return
			}
		}
	}
}

// readName reads the columns of a row; an empty one means that of the step before.
func readName(c []string) Name {
	n := Name{Source: unescaped(c[0]), Mapped: unescaped(c[0]), Statuses: c[2]}
	if c[1] != "" {
		n.Mapped = unescaped(c[1])
	}
	n.Host = n.Mapped
	if c[3] != "" {
		n.Host = c[3]
	}
	if c[4] != "" {
		n.Statuses = c[4]
	}
	n.Statuses = strings.Trim(n.Statuses, "[]")
	return n
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
