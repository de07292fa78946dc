package idnatest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed expect.txt.gz
var packed []byte

// Expected is what other packages than those that core/idna's tables are generated
// from say about the characters of Version. Its header names them;
// core/idna/gather/expectation.go has its format.
type Expected struct {
	Version string

	Viramas map[rune]bool // canonical combining class 9
	Lower   map[rune]rune // simple lower case, if it is another character beyond ASCII
	classes map[rune]string
	joining map[rune]string
	mapping []mapping
	Forms   []NFC
}

// NFC is a text with its canonical composition and decomposition.
type NFC struct{ Source, Composed, Decomposed string }

// mapping is the mapping of the characters from first to the next one.
type mapping struct {
	first rune
	Mapping
}

// Mapping is a row of UTS #46. Status is V, M, I, X (valid, mapped, ignored,
// disallowed) or D, which counts as V without transitional processing.
type Mapping struct {
	Status string
	To     string
}

// Expect reads the expectation.
var Expect = sync.OnceValue(func() *Expected {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	e := &Expected{Viramas: map[rune]bool{}, Lower: map[rune]rune{}, classes: map[rune]string{}, joining: map[rune]string{}}
	fmt.Sscanf(string(text), "# Unicode %s", &e.Version)
	for line := range strings.Lines(string(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		e.read(kind, rest)
	}
	return e
})

func (e *Expected) read(kind, rest string) {
	f := strings.Fields(rest)
	switch kind {
	case "class":
		each(f, e.classes)
	case "joining":
		each(f, e.joining)
	case "virama":
		e.Viramas[hex(f[0])] = true
	case "lower":
		e.Lower[hex(f[0])] = hex(f[1])
	case "uts46":
		e.mapping = append(e.mapping, mapping{hex(f[0]), Mapping{f[1], characters(f[2:])}})
	case "nfc":
		c := strings.Split(rest, ";")
		e.Forms = append(e.Forms, NFC{characters(strings.Fields(c[0])), characters(strings.Fields(c[1])), characters(strings.Fields(c[2]))})
	}
}

// Class returns the derived property of r if a label may contain it: PVALID,
// CONTEXTJ or CONTEXTO; else "".
func (e *Expected) Class(r rune) string { return e.classes[r] }

// Joining returns the Joining_Type of r.
func (e *Expected) Joining(r rune) string {
	if t := e.joining[r]; t != "" {
		return t
	}
	return "U"
}

// Mapping returns the mapping of r.
func (e *Expected) Mapping(r rune) Mapping {
	i, found := slices.BinarySearchFunc(e.mapping, r, func(m mapping, r rune) int { return int(m.first - r) })
	if !found {
		i--
	}
	return e.mapping[i].Mapping
}

// each sets the values of the characters from f[1] to before f[2] to f[0].
func each(f []string, all map[rune]string) {
	for r := hex(f[1]); r < hex(f[2]); r++ {
		all[r] = f[0]
	}
}

func characters(numbers []string) (s string) {
	for _, n := range numbers {
		s += string(hex(n))
	}
	return s
}

func hex(s string) rune {
	n, err := strconv.ParseInt(s, 16, 32)
	if err != nil {
		panic(err)
	}
	return rune(n)
}
