package core

// maxSentence is more than the bytes of the longest sentence with the longest
// character and number in it.
const maxSentence = 256

// appendRefusal appends why f is not valid, or null.
func appendRefusal(dst []byte, f *Facts) []byte {
	if f.Valid {
		return appendNull(dst)
	}
	r := f.Refusal
	var text [maxSentence]byte // a sentence may quote a double quote or a backslash
	dst = appendText(appendText(dst, `{"code":"`), r.Reason.Code())
	dst = appendDecimal(appendText(dst, `","offset":`), r.Offset)
	dst = appendText(appendText(dst, `,"section":"`), r.Reason.Section())
	dst = appendJSONString(appendText(dst, `","sentence":`), r.AppendSentence(text[:0], f.Email))
	return append(dst, '}')
}
