package idna

import "bytes"

// AppendDecoded appends the characters of an A-label, in lower case, to dst. It
// returns false if label is none, or has more characters than dst has room for.
// It does not check that they are allowed.
func AppendDecoded(dst []rune, label []byte) ([]rune, bool) {
	if !isACE(label) || len(label)-len(acePrefix) > cap(dst) {
		return nil, false
	}
	return appendDecoded(dst, label[len(acePrefix):])
}

// Punycode (RFC 3492) with the parameters of section 5.
const (
	punyBase        = 36
	punyTMin        = 1
	punyTMax        = 26
	punySkew        = 38
	punyDamp        = 700
	punyInitialBias = 72
	punyInitialN    = 0x80
)

// punyMax bounds the length of an encoded label: at most six digits for each
// character.
const punyMax = 6*runesMax + 1

// appendPunycode appends the encoding of label, without prefix (section 6.3).
func appendPunycode(dst []byte, label []rune) []byte {
	basic := 0
	for _, r := range label {
		if r < punyInitialN {
			dst = append(dst, byte(r))
			basic++
		}
	}
	done := basic
	if basic > 0 {
		dst = append(dst, '-')
	}
	bias, delta, n := punyInitialBias, 0, rune(punyInitialN)
	for done < len(label) {
		next := rune(0x7FFFFFFF) // the smallest character that is at least n
		for _, r := range label {
			if n <= r && r < next {
				next = r
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range label {
			switch {
			case r < n:
				delta++
			case r == n:
				rest := delta // as a variable-length integer (section 3.3)
				for k := punyBase; ; k += punyBase {
					t := threshold(k, bias)
					if rest < t {
						break
					}
					dst = append(dst, punyDigit(t+(rest-t)%(punyBase-t)))
					rest = (rest - t) / (punyBase - t)
				}
				dst = append(dst, punyDigit(rest))
				bias = adapt(delta, done+1, done == basic)
				delta = 0
				done++
			}
		}
		delta++
		n++
	}
	return dst
}

func threshold(k, bias int) int { return min(max(k-bias, punyTMin), punyTMax) }

func punyDigit(d int) byte {
	if d < 26 {
		return 'a' + byte(d)
	}
	return '0' + byte(d-26)
}

// adapt returns the next bias (section 6.1).
func adapt(delta, points int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > (punyBase-punyTMin)*punyTMax/2; k += punyBase {
		delta /= punyBase - punyTMin
	}
	return k + (punyBase-punyTMin+1)*delta/(delta+punySkew)
}

// appendDecoded appends the decoding of encoded, which is in lower case and has
// no prefix (section 6.2). It returns false if encoded is not Punycode or the
// result exceeds the capacity of dst.
func appendDecoded(dst []rune, encoded []byte) ([]rune, bool) {
	rest := encoded
	if i := bytes.LastIndexByte(encoded, '-'); i >= 0 {
		for _, c := range encoded[:i] {
			dst = append(dst, rune(c))
		}
		rest = encoded[i+1:]
	}
	bias, n, i := punyInitialBias, punyInitialN, 0
	for first := true; len(rest) > 0; first = false {
		delta, size := decodeVariable(rest, bias)
		points := len(dst) + 1
		if size == 0 || points > cap(dst) {
			return nil, false
		}
		rest = rest[size:]
		bias = adapt(delta, points, first)
		n += (i + delta) / points
		i = (i + delta) % points
		if n > 0x10FFFF || 0xD800 <= n && n < 0xE000 {
			return nil, false
		}
		dst = append(dst, 0)
		copy(dst[i+1:], dst[i:])
		dst[i] = rune(n)
		i++
	}
	return dst, true
}

// decodeVariable reads a variable-length integer at the start of s and returns
// its value and its length; the length is 0 if it is malformed or too large.
func decodeVariable(s []byte, bias int) (delta, size int) {
	weight := 1
	for k := punyBase; size < len(s); k += punyBase {
		d := 0
		switch c := s[size]; {
		case 'a' <= c && c <= 'z':
			d = int(c - 'a')
		case '0' <= c && c <= '9':
			d = int(c-'0') + 26
		default:
			return 0, 0
		}
		size++
		if delta > 1<<30 || weight > 1<<30 {
			return 0, 0
		}
		delta += d * weight
		t := threshold(k, bias)
		if d < t {
			return delta, size
		}
		weight *= punyBase - t
	}
	return 0, 0
}
