package core

// Reason is a stable code for why an address is refused.
type Reason uint8

// Refusal is why an address is not valid, and where.
type Refusal struct {
	Reason Reason
	Offset int // of the offending octet in the address as given; its length where something is missing at the end
	Excess int // by how many octets a limit is passed, where the reason is a limit
}

// Code is the reason's stable name, such as "local_part_too_long"; empty when accepted.
func (r Reason) Code() string { return catalogue[r].code }

// Section is the norm the reason rests on, such as "RFC 5321 section 4.5.3.1.1".
func (r Reason) Section() string { return catalogue[r].section }

// AppendSentence appends a sentence for people, without a full stop, that says
// what is wrong and how to mend it. email is the address that was refused. It
// never repeats control characters.
func (r Refusal) AppendSentence(dst, email []byte) []byte {
	sentence := catalogue[r.Reason].sentence
	for i := range len(sentence) {
		switch sentence[i] {
		case '~':
			dst = appendCharacter(dst, email[min(r.Offset, len(email)):])
		case '#':
			dst = appendOctets(dst, r.Excess)
		default:
			dst = append(dst, sentence[i])
		}
	}
	return dst
}

// appendOctets appends n, which is positive, with its noun.
func appendOctets(dst []byte, n int) []byte {
	dst = appendDecimal(dst, n)
	if n == 1 {
		return append(dst, " octet"...)
	}
	return append(dst, " octets"...)
}

func appendDecimal(dst []byte, n int) []byte {
	if n >= 10 {
		dst = appendDecimal(dst, n/10)
	}
	return append(dst, '0'+byte(n%10))
}
