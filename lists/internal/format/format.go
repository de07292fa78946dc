// Package format describes the bytes of a blob, the packed form of the lists, for package
// lists, which reads blobs, and package blob, which writes them. It imports nothing, so that
// the reader stays small in the module.
//
// # Layout
//
// Integers are little-endian.
//
//	blob         = header domains kinds sources roles targets top-levels providers rules
//	               exchanges operators mailboxes
//	header       = magic version checksum date
//	magic        = "addrspec"
//	version      = u8                       ; of the format
//	checksum     = u32                      ; CRC-32 (IEEE) of all bytes after it
//	date         = 10 char                  ; "2026.11.20", when the sources were fetched
//	domains      = size table               ; domain, or top-level domain of class Unproven -> number of its kind, from 1
//	kinds        = size *(class carriers mailbox-rule) ; what the entries of a kind share
//	class        = u8                       ; one class, plus Subdomains
//	carriers     = u32                      ; the sources that carry the domain: bit 0 is the first
//	mailbox-rule = u8                       ; number in mailboxes, from 1, for the entry's own name; 0 if there is none
//	sources      = size *(source LF)        ; at most MaxSources
//	source       = name HT version HT licence HT day HT count ; empty where unknown
//	roles        = size table               ; word of roles.txt -> number of its class, plus marks
//	targets      = size *(domain LF)        ; typo targets, most used first
//	top-levels   = size *(label LF)         ; top-level domains and registries' endings of two labels, in byte order
//	providers    = size table               ; provider's domain -> number of its rule, from 1
//	rules        = size *(rule LF)          ; which addresses are the same mailbox
//	rule         = name HT options HT ignored HT [domain]
//	options      = ["+"] ["*"]              ; OptionTags, OptionSubdomains
//	ignored      = *char                    ; characters of a local part that do not count
//	exchanges    = size table               ; suffix of mail exchanges -> number of its operator, from 1
//	operators    = size *(operator LF)      ; at most MaxRules
//	operator     = class HT provider        ; the class by its name
//	mailboxes    = size *(mailbox LF)       ; at most MaxRules: which names a provider's mailboxes have
//	mailbox      = name HT characters HT first HT least HT most
//	characters   = *char                    ; allowed besides letters and digits
//	first        = *char                    ; of these, those that a name may begin with
//	least, most  = 1*2DIGIT                 ; bytes of a name
//	size         = u32                      ; bytes of what follows
//
//	table        = suffix-count entry-count value-size suffixes buckets blocks
//	               lengths suffix-ids values texts
//	suffix-count = u8                       ; number of suffixes less one
//	entry-count  = u16
//	value-size   = u8                       ; 1 or 2 bytes
//	suffixes     = 1*256(length *char)      ; length is a u8, at most MaxSuffix; suffix 0 is empty
//	buckets      = 1445 u16                 ; first entry of each of the 38 * 38 buckets, then entry-count
//	blocks       = *u24                     ; one per block: where in texts its first entry starts
//	lengths      = entry-count u8           ; prefix length << 4 | text length
//	suffix-ids   = entry-count u8           ; number of the entry's suffix
//	values       = entry-count u8           ; the low bytes, then the high bytes if value-size is 2;
//	                                        ; never 0, which a lookup returns for a missing name
//	texts        = *text
//	text         = [length] *char           ; length is a u8, present if the text length in lengths is LongText
//
// A table maps names to small numbers. A name of at least two characters falls into the
// bucket that those two select: 38 * code(first) + code(second), where a to z
// are 0 to 25, 0 to 9 are 26 to 35, "-" is 36 and "." is 37. Entries are sorted
// by bucket and, in a bucket, by the bytes of the rest of their names. The name of a
// role word in another script is "--" and two characters for each of its bytes, whose
// codes are the five low bits and the three high ones.
//
// An entry stores the rest of its name by front coding: the number of bytes it
// shares with the previous entry (its prefix), then a text of its own, then one
// of the table's common suffixes, such as ".com". The prefix does not extend into
// the previous entry's suffix.
//
// Every BlockEntries entries form a block, across buckets. The first entry of a
// block and of a bucket has no prefix. A lookup finds the block by binary
// search in the bucket and then scans that block, comparing every byte of the
// name: there are no hashes, so no false positives.
package format

// The header and the offsets of its fields.
const (
	Magic      = "addrspec"
	Version    = 5
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

// The dimensions and limits of the other parts.
const (
	KindBytes      = 6   // a class, the carriers and a mailbox rule
	MaxSources     = 32  // the bits of the carriers
	MaxRules       = 255 // so that their table needs one byte a value; likewise of operators and mailboxes
	MaxLine        = 255 // bytes of a line
	SourceFields   = 5   // of a line
	RuleFields     = 4
	OperatorFields = 2
	MailboxFields  = 5
)

// Subdomains is the bit of a kind's class whose entries cover every name below their own.
const Subdomains = 0x80

// The options of a rule.
const (
	OptionTags       = '+' // what follows a plus sign in the local part is a tag
	OptionSubdomains = '*' // tag@user.domain is user@domain
)

// Bucket returns the bucket of name, or false if no table can contain it.
func Bucket(name []byte) (int, bool) {
	if len(name) < BucketBytes {
		return 0, false
	}
	first, second := int(codes[name[0]]), int(codes[name[1]])
	return len(Alphabet)*first + second, first|second >= 0 // the sign bit is set if either is -1
}

// native begins the names of role words in other scripts than Latin.
const native = "--"

// AppendName appends the name of a role word to dst.
func AppendName(dst, word []byte) []byte {
	if len(word) == 0 || word[0] < 0x80 {
		return append(dst, word...)
	}
	dst = append(dst, native...)
	for _, b := range word {
		dst = append(dst, Alphabet[b&31], Alphabet[b>>5])
	}
	return dst
}

// AppendWord appends the role word with that name, which has two bytes or more, to dst.
func AppendWord(dst, name []byte) []byte {
	pairs := name[len(native):]
	if string(name[:len(native)]) != native || len(pairs) < 4 {
		return append(dst, name...)
	}
	for ; len(pairs) >= 2; pairs = pairs[2:] {
		dst = append(dst, byte(codes[pairs[0]])|byte(codes[pairs[1]])<<5)
	}
	return dst
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

// Uint16 reads the first two bytes of b, as integers of a blob are. encoding/binary would add
// reflection to the module.
func Uint16(b []byte) int { return int(b[0]) | int(b[1])<<8 }

// Uint24 reads the first three bytes of b.
func Uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// Uint32 reads the first four bytes of b.
func Uint32(b []byte) int { return Uint24(b) | int(b[3])<<24 }

// AppendUint24 appends the three low bytes of n to dst.
func AppendUint24(dst []byte, n int) []byte {
	return append(dst, byte(n), byte(n>>8), byte(n>>16))
}
