package lists

import "github.com/addrspec/addrspec/lists/internal/format"

// each calls do with the name and value of every entry, in order. The name is
// valid during the call.
func (t *table) each(do func(name []byte, value int)) {
	var memory [format.MaxName]byte
	at := 0
	for bucket := range format.Buckets {
		name := append(memory[:0], format.Alphabet[bucket/len(format.Alphabet)], format.Alphabet[bucket%len(format.Alphabet)])
		end := format.Uint16(t.buckets[2*bucket+2:])
		for e := format.Uint16(t.buckets[2*bucket:]); e < end; e++ {
			start, size := t.text(e, at)
			at = start + size
			name = append(name[:format.BucketBytes+t.prefix(e)], t.texts[start:at]...)
			do(append(name, t.suffix(e)...), t.value(e))
		}
	}
}
