package lists

import "hash/crc32"

// DamagedError tells why a blob cannot be what the packer wrote.
type DamagedError struct{ What string }

func (e *DamagedError) Error() string {
	return "lists: the blob is damaged: " + e.What + "; fetch or pack it again"
}

// VersionError tells that a blob has another format than this program reads.
type VersionError struct{ Has, Reads uint8 }

func (e *VersionError) Error() string {
	advice := "pack it again with the packer of this program"
	if e.Has > e.Reads {
		advice = "update the program"
	}
	return "lists: the blob has format " + decimal(e.Has) + ", this program reads format " + decimal(e.Reads) + ": " + advice
}

// Open reads a packed blob in place; the caller must not change blob after.
// It refuses, with a DamagedError or a VersionError, whatever a look-up could
// stumble over later.
func Open(blob []byte) (*Lists, error) {
	l, err := parse(blob)
	if err != nil {
		return nil, err
	}
	if int(crc32.ChecksumIEEE(blob[dateAt:])) != u32(blob[checkAt:]) {
		return nil, &DamagedError{"its checksum does not fit its bytes"}
	}
	if err := l.domains.verify("domains"); err != nil {
		return nil, err
	}
	if err := l.words.verify("role words"); err != nil {
		return nil, err
	}
	return l, nil
}

// parse finds the parts of a blob without looking into them.
func parse(blob []byte) (*Lists, error) {
	if len(blob) < partsAt {
		return nil, &DamagedError{"it ends within its header"}
	}
	if string(blob[:len(magic)]) != magic {
		return nil, &DamagedError{"it does not begin with \"" + magic + "\""}
	}
	if v := blob[len(magic)]; v != formatVersion {
		return nil, &VersionError{v, formatVersion}
	}
	l := &Lists{version: string(blob[dateAt:partsAt]) + "-" + hex32(u32(blob[checkAt:]))}
	c := cursor{rest: blob[partsAt:]}
	domains, words := c.part(), c.part()
	l.targets, l.tops = c.part(), c.part()
	if c.short || len(c.rest) != 0 {
		return nil, &DamagedError{"its parts do not add up to its size"}
	}
	return l, firstError(l.domains.parse(domains, "domains"), l.words.parse(words, "role words"))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// cursor cuts a blob into parts; short tells that a cut ran past the end.
type cursor struct {
	rest  []byte
	short bool
}

// take cuts off the next n bytes.
func (c *cursor) take(n int) []byte {
	if c.short || n < 0 || n > len(c.rest) {
		c.short = true
		return nil
	}
	part := c.rest[:n:n]
	c.rest = c.rest[n:]
	return part
}

// part cuts off a part that its size precedes.
func (c *cursor) part() []byte {
	size := c.take(4)
	if c.short {
		return nil
	}
	return c.take(u32(size))
}

func decimal(n uint8) string {
	digits := [3]byte{'0' + n/100, '0' + n/10%10, '0' + n%10}
	from := 0
	for from < 2 && digits[from] == '0' {
		from++
	}
	return string(digits[from:])
}

func hex32(n int) string {
	var digits [8]byte
	for i := range digits {
		digits[i] = "0123456789abcdef"[n>>(28-4*i)&15]
	}
	return string(digits[:])
}
