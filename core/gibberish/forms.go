package gibberish

import (
	_ "embed"

	"github.com/addrspec/addrspec/core/gibberish/internal/filter"
)

// form is the form of the local parts that a throw-away service hands out. Such a form
// can be said, so the model takes it for a name.
//
// A new service is a row here, if its form is exact and at most 0.02 % of people at
// domains without a class have it.
type form struct {
	service string
	source  string // where addresses with the form were seen, and until when
	matches func(name []byte) bool
}

var forms = [...]form{
	{"temp-mail.org", "61 of 62 addresses of 2021 to 2026 on eight of its domains, in public threads read in November 2026", isTempMail},
}

// Generated reports whether name, a local part without its tag, has the form that a known
// throw-away service generates.
func Generated(name []byte) bool {
	for i := range forms {
		if forms[i].matches(name) {
			return true
		}
	}
	return false
}

// isTempMail reports whether name is ten characters: consonants and vowels in turn, then
// three to five digits. Letters that are a name or a word are left out, because people put
// numbers behind theirs: marina1985 has the form too.
func isTempMail(name []byte) bool {
	if len(name) != 10 {
		return false
	}
	letters := alternating(name)
	if letters < 5 || letters > 7 {
		return false
	}
	for _, b := range name[letters:] {
		if b-'0' > 9 {
			return false
		}
	}
	return !filter.Filter(packedNames).Has(name[:letters])
}

// packedNames has the names and words of the training data that isTempMail could match. The
// trainer writes it.
//
//go:embed names.bin
var packedNames string

// alternating returns how many letters at the start of name are a consonant and a vowel
// in turn.
func alternating(name []byte) (letters int) {
	for _, b := range name {
		isVowel := vowels>>(b-'a')&1 != 0
		if b-'a' >= 26 || isVowel != (letters%2 == 1) {
			break
		}
		letters++
	}
	return letters
}

// vowels has a bit for each of a, e, i, o and u, from bit 0 for a.
const vowels = uint32(1 | 1<<('e'-'a') | 1<<('i'-'a') | 1<<('o'-'a') | 1<<('u'-'a'))
