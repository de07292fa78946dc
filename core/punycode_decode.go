package core

// appendDecoded appends the characters that encoded, lower case and without
// its prefix, stands for (section 6.2). It reports failure for what is no
// Punycode, or too long for dst's capacity.
func appendDecoded(dst []rune, encoded []byte) ([]rune, bool) {
	rest := encoded
	if i := lastHyphen(encoded); i >= 0 {
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

// decodeVariable reads a variable-length integer and returns how many octets
// of s it takes; 0 for one that is malformed or absurdly large.
func decodeVariable(s []byte, bias int) (delta, size int) {
	weight := 1
	for k := punyBase; size < len(s); k += punyBase {
		d := punyValue(s[size])
		size++
		if d < 0 || delta > 1<<30 || weight > 1<<30 {
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

func punyValue(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return int(c - 'a')
	case '0' <= c && c <= '9':
		return int(c-'0') + 26
	}
	return -1
}

func lastHyphen(s []byte) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '-' {
			return i
		}
	}
	return -1
}
