// Package format describes the bytes of a blob, the packed form of the lists.
// Package lists reads blobs, package blob writes them; both take the layout
// from here. It does no I/O and imports nothing, so that the reader stays small
// in the module.
//
// # Layout
//
// Integers are little-endian.
//
//	blob         = header domains roles targets top-levels
//	header       = magic version checksum date
//	magic        = "addrspec"
//	version      = u8                       ; of the format
//	checksum     = u32                      ; CRC-32 (IEEE) of all bytes after it
//	date         = 10 char                  ; "2026.11.20", when the sources were fetched
//	domains      = size table               ; domain -> class, plus Subdomains
//	roles        = size table               ; role word -> number of its role
//	targets      = size *(domain LF)        ; typo targets, most used first
//	top-levels   = size *(label LF)         ; top-level domains, in byte order
//	size         = u32                      ; bytes of what follows
//
//	table        = suffix-count entry-count suffixes buckets blocks
//	               lengths suffix-ids values texts
//	suffix-count = u8                       ; number of suffixes less one
//	entry-count  = u16
//	suffixes     = 1*256(length *char)      ; length is a u8, at most MaxSuffix; suffix 0 is empty
//	buckets      = 1445 u16                 ; first entry of each of the 38 * 38 buckets, then entry-count
//	blocks       = *u24                     ; one per block: where in texts its first entry starts
//	lengths      = entry-count u8           ; prefix length << 4 | text length
//	suffix-ids   = entry-count u8           ; number of the entry's suffix
//	values       = entry-count u8           ; never 0, which a look-up returns for a missing name
//	texts        = *text
//	text         = [length] *char           ; length is a u8, present if the text length in lengths is LongText
//
// A table maps names to bytes. A name of at least two characters falls into the
// bucket that those two select: 38 * code(first) + code(second), where a to z
// are 0 to 25, 0 to 9 are 26 to 35, "-" is 36 and "." is 37. Entries are sorted
// by bucket and, in a bucket, by the bytes of the rest of their names.
//
// An entry stores the rest of its name by front coding: the number of bytes it
// shares with the previous entry (its prefix), then a text of its own, then one
// of the table's common suffixes, such as ".com". The prefix does not extend into
// the previous entry's suffix.
//
// Every BlockEntries entries form a block, across buckets. The first entry of a
// block and of a bucket has no prefix. A look-up finds the block by binary
// search in the bucket and then scans that block, comparing every byte of the
// name: there are no hashes, so no false positives.
//
// # Example
//
// This blob maps tempmail.com to Disposable (1) with Subdomains (0x80),
// tempmailer.com to Disposable, the role word hr to role 10, and has the typo
// target aol.com and the top-level domain com. Bytes are hexadecimal, n*(...)
// repeats bytes. A test packs and opens this very text.
//
//	61 64 64 72 73 70 65 63 01             ; "addrspec", version 1
//	fe 52 8a 2e                            ; checksum
//	32 30 32 36 2e 31 31 2e 32 30          ; "2026.11.20"
//	64 0b 00 00                            ; the table of domains has 2916 bytes:
//	01 02 00                               ;   2 suffixes, 2 entries
//	00 04 2e 63 6f 6d                      ;   suffix 0 is "", suffix 1 is ".com"
//	727*(00 00) 718*(02 00)                ;   "te" is bucket 38*19+4 = 726: entries 0 and 1
//	00 00 00                               ;   block 0 starts at texts[0]
//	06 62                                  ;   no prefix, 6 bytes of text; prefix 6, 2 bytes
//	01 01                                  ;   both end with suffix 1
//	81 01                                  ;   Disposable with Subdomains; Disposable
//	6d 70 6d 61 69 6c                      ;   te + "mpmail" + .com
//	65 72                                  ;   te + mpmail + "er" + .com
//	54 0b 00 00                            ; the table of role words has 2900 bytes:
//	00 01 00                               ;   1 suffix, 1 entry
//	00                                     ;   suffix 0 is ""
//	284*(00 00) 1161*(01 00)               ;   "hr" is bucket 38*7+17 = 283: entry 0
//	00 00 00                               ;   block 0 starts at texts[0]
//	00                                     ;   no prefix and no text: "hr" is its bucket
//	00                                     ;   suffix 0
//	0a                                     ;   role 10
//	08 00 00 00 61 6f 6c 2e 63 6f 6d 0a    ; 8 bytes of typo targets: "aol.com\n"
//	04 00 00 00 63 6f 6d 0a                ; 4 bytes of top-level domains: "com\n"
package format

// The header and the offsets of its fields.
const (
	Magic      = "addrspec"
	Version    = 1
	ChecksumAt = len(Magic) + 1
	DateAt     = ChecksumAt + 4
	DateForm   = "2006.01.02"           // a layout of package time
	PartsAt    = DateAt + len(DateForm) // of the table of domains
)

// The dimensions and limits of a table.
const (
	Alphabet     = "abcdefghijklmnopqrstuvwxyz0123456789-." // of names, by code
	BucketBytes  = 2                                        // of a name that select its bucket
	Buckets      = len(Alphabet) * len(Alphabet)
	BlockEntries = 16
	MaxPrefix    = 15 // what four bits of lengths can count
	LongText     = 15 // this text length means that a length byte precedes the text
	MaxSuffix    = 63 // bytes
	MaxSuffixes  = 256
	MaxName      = 255 // bytes, so that one length byte is enough
)

// Subdomains is the bit of a domain's value, beside its class, that extends the
// entry to every name below its own.
const Subdomains = 0x80

// Bucket returns the bucket of name. It returns false if name is too short or
// its first two characters are not in Alphabet, so no table can contain it.
func Bucket(name []byte) (int, bool) {
	if len(name) < BucketBytes {
		return 0, false
	}
	first, second := int(codes[name[0]]), int(codes[name[1]])
	return len(Alphabet)*first + second, first|second >= 0 // the sign bit is set if either is -1
}

// codes has the code of each character, -1 for those not in Alphabet.
var codes = func() (codes [256]int8) {
	for c := range codes {
		codes[c] = -1
	}
	for code, c := range []byte(Alphabet) {
		codes[c] = int8(code)
	}
	return codes
}()
