// Package hangul recognizes Hangul that was typed on the Latin letters of its keys.
package hangul

// The letters of a Korean keyboard (KS X 5002) by what is typed with their keys. Shift for
// doubled consonants is lost in lower case.
const (
	koreanConsonants = 1<<('q'-'a') | 1<<('w'-'a') | 1<<('e'-'a') | 1<<('r'-'a') | 1<<('t'-'a') | 1 | 1<<('s'-'a') |
		1<<('d'-'a') | 1<<('f'-'a') | 1<<('g'-'a') | 1<<('z'-'a') | 1<<('x'-'a') | 1<<('c'-'a') | 1<<('v'-'a')
	vowelPairs = "hkhohlnjnpnlml" // typed for one vowel each
	finalPairs = "rtswsgfrfafqftfxfvfgqt"
)

// IsTyped reports whether every run of letters in name, in lower case, decodes into
// complete Hangul syllables, at least two of them: rlaalstn is what 김민수 types without
// switching to Korean. Random letters rarely do.
func IsTyped(name []byte) bool {
	syllables := 0
	for len(name) > 0 {
		n := 0
		for n < len(name) && name[n]-'a' < 26 {
			n++
		}
		count, complete := countSyllables(name[:n])
		if !complete {
			return false
		}
		syllables += count
		name = name[min(n+1, len(name)):]
	}
	return syllables > 1
}

func countSyllables(letters []byte) (count int, complete bool) {
	for len(letters) > 0 {
		if !isConsonant(letters[0]) || len(letters) < 2 || isConsonant(letters[1]) {
			return 0, false
		}
		vowels := 1
		if len(letters) > 2 && isPair(vowelPairs, letters[1:]) {
			vowels = 2
		}
		letters = letters[1+vowels:]
		letters = letters[finals(letters):]
		count++
	}
	return count, true
}

// finals returns how many of the letters after a vowel end its syllable. The last
// consonant before another vowel begins the next one.
func finals(letters []byte) int {
	n := 0
	for n < len(letters) && isConsonant(letters[n]) {
		n++
	}
	if n < len(letters) {
		n--
	}
	if n > 2 || n == 2 && !isPair(finalPairs, letters) {
		return 0
	}
	return max(n, 0)
}

func isConsonant(b byte) bool { return koreanConsonants>>(b-'a')&1 != 0 }

func isPair(list string, letters []byte) bool {
	for i := 0; i < len(list); i += 2 {
		if string(letters[:2]) == list[i:i+2] {
			return true
		}
	}
	return false
}
