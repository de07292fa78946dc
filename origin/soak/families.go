package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A family makes inputs of one kind, with a length in bytes.
type family struct {
	name string
	make func(length int) string
}

// families are inputs that may be expensive: nesting; parts to look up, to decode,
// to sort or to compose; and errors that appear only at the end.
var families = slices.Concat(known, mixtures())

var known = []family{
	repeated("letters", "", "a", "@mail.example"),
	repeated("dots", "", ".", "@mail.example"),
	repeated("atoms", "", "a.", "a@mail.example"),
	repeated("@", "", "@", ""),
	repeated("folding white space", "", "\r\n ", "a@mail.example"),
	repeated("comments open", "", "(", ""),
	repeated("comments side by side", "", "()", "a@mail.example"),
	repeated("comment of quoted pairs", "(", `\)`, ")a@mail.example"),
	repeated("comment before the end", "a@mail.example(", "x ", ")"),
	repeated("quoted pairs", `"`, `\"`, `"@mail.example`),
	repeated("quoted, then folding", `"`, " \r\n ", `"@mail.example`),
	repeated("quotes side by side", "", `"".`, "a@mail.example"),
	repeated("quoted in other scripts", `"`, "é", `"@mail.example`),
	repeated("plus signs", "", "+", "a@mail.example"),
	repeated("digits", "", "0", "@mail.example"),
	repeated("no UTF-8", "", "\xff", "@mail.example"),
	repeated("labels", "a@", "a.", "example"),
	repeated("one label", "a@", "a", ".example"),
	repeated("hyphens", "a@a", "-", "a.example"),
	repeated("A-labels", "a@", "xn--a-ecp.", "example"),
	repeated("one A-label", "a@xn--", "a", ".example"),
	repeated("one A-label of large deltas", "a@xn--", "9", ".example"),
	repeated("U-labels", "a@", "ü.", "example"),
	repeated("one U-label", "a@", "ü", ".example"),
	repeated("one U-label, all different", "a@", "", ".example", func(r *rand.Rand) string { return string(rune(0x4e00 + r.IntN(20000))) }),
	repeated("right to left", "a@", "א.", "example"),
	repeated("joiners", "a@", "ب\u200d", "ب.example"),
	repeated("ideographic full stops", "a@", "a。", "example"),
	repeated("full width", "a@", "ａ", ".example"),
	repeated("ligatures", "a@", "ﷺ", ".example"),
	repeated("combining marks in order", "a", "\u0327\u0301", "@mail.example"),
	repeated("combining marks in reverse order", "a", "\u0301\u0327", "@mail.example"),
	repeated("combining marks, last class first", "a", "\u0345", "\u0334@mail.example"),
	repeated("marks of one class", "a", "\u0301", "@mail.example"),
	repeated("marks in a domain", "a@a", "\u0301\u0327", ".example"),
	repeated("Hangul jamo", "", "\u1100\u1161\u11a8", "@mail.example"),
	repeated("decomposing letters", "", "ΐ", "@mail.example"),
	repeated("letters that grow in lower case", "", "İ", "@mail.example"),
	repeated("musical symbols", "", "\U0001d15e", "@mail.example"),
	repeated("IPv6 groups", "a@[IPv6:", "0:", "]"),
	repeated("IPv4 digits", "a@[", "0", "]"),
	repeated("literal", "a@[x:", "y", "]"),
	nested("nested comments, closed"),
	nested("comments nested with white space"),
}

// repeated returns the family of head, then middle as often as it fits, then tail.
// draw, if given, returns each piece in place of middle.
func repeated(name, head, middle, tail string, draw ...func(*rand.Rand) string) family {
	return family{name, func(length int) string {
		r := rand.New(rand.NewPCG(1, 2))
		var s strings.Builder
		for s.WriteString(head); s.Len()+len(tail)+4 <= length; {
			piece := middle
			if len(draw) > 0 {
				piece = draw[0](r)
			}
			s.WriteString(piece)
		}
		return s.String() + tail
	}}
}

func nested(name string) family {
	open, shut := "(", ")"
	if strings.Contains(name, "white") {
		open, shut = "( \r\n ", "\t)"
	}
	return family{name, func(length int) string {
		depth := (length - 20) / (len(open) + len(shut))
		return strings.Repeat(open, depth) + strings.Repeat(shut, depth) + "a@mail.example"
	}}
}

// mixtures returns families of random sequences of syntactically meaningful pieces,
// to find expensive inputs that the known families miss.
func mixtures() (list []family) {
	pieces := []string{"a", ".", "@", "(", ")", `"`, `\`, " ", "\r\n ", "[", "]", ":", "-", "+", "xn--", "ü", "\u0301", "\u0327", "\u0345",
		"\u200d", "ب", "א", "字", "ß", "İ", "\u1100", "\u1161", "\U0001f600", "\xff", "0", "IPv6:", "。", "é", "_"}
	r := rand.New(rand.NewPCG(3, 4))
	for n := range mixtureCount {
		middle := ""
		for range 1 + r.IntN(6) {
			middle += pieces[r.IntN(len(pieces))]
		}
		head, tail := "", "@mail.example"
		if n%2 == 1 {
			head, tail = "a@", ".example"
		}
		list = append(list, repeated(fmt.Sprintf("mixture %q", head+middle+tail), head, middle, tail))
	}
	return list
}

// mixtureCount is the number of mixtures tried.
const mixtureCount = 150
