package book

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"hash/crc32"
	"strings"
)

// A key's secret is 42 ASCII bytes:
//
//	offset  bytes  what
//	0       4      "ask_"
//	4       32     random, each one of the 62 digits below (190 bits)
//	36      6      checksum of bytes 0 to 35
//
// The digits, in order of value, are 0-9, A-Z, a-z. The checksum is CRC-32 as
// in zlib, PNG and IEEE 802.3 (polynomial 0xEDB88320 reflected, initial value
// and final XOR 0xFFFFFFFF), an unsigned 32-bit number, written in base 62 with
// the most significant digit first, padded with zeros to six digits, which
// suffice since 62^6 is more than 2^32. The checksum is not secret and proves
// nothing; it lets a host refuse a mistyped key without a lookup.
//
// Example: ask_00000000000000000000000000000000 is followed by 2CGNRW.
const (
	secretPrefix   = "ask_"
	secretRandom   = 32
	secretChecksum = 6
	secretLength   = len(secretPrefix) + secretRandom + secretChecksum

	digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewSecret returns a new random secret.
func NewSecret() string {
	secret := make([]byte, 0, secretLength)
	secret = append(secret, secretPrefix...)
	secret = appendRandom(secret, secretRandom)
	return string(appendChecksum(secret))
}

// WellFormed reports whether secret has the form of a secret and its checksum is
// right.
func WellFormed(secret string) bool {
	if len(secret) != secretLength || secret[:len(secretPrefix)] != secretPrefix {
		return false
	}
	var given, want [secretLength]byte // a conversion of this length would allocate
	copy(given[:], secret)
	body := append(want[:0], given[:secretLength-secretChecksum]...)
	for _, b := range body[len(secretPrefix):] {
		if strings.IndexByte(digits, b) < 0 {
			return false
		}
	}
	return subtle.ConstantTimeCompare(appendChecksum(body), given[:]) == 1
}

// hint returns the part of a secret that lists of keys show: its prefix and four
// of the 32 random digits.
func hint(secret string) string { return secret[:len(secretPrefix)+4] }

// A Digest is the SHA-256 of a secret. Only it and the hint are stored. A plain
// hash suffices: a secret has 190 random bits, so there is no dictionary to try.
type Digest [sha256.Size]byte

// DigestOf returns the digest of a secret.
func DigestOf(secret string) Digest {
	var stack [secretLength]byte // a conversion of this length would allocate
	return sha256.Sum256(append(stack[:0], secret...))
}

// Hex returns the digest as the database stores it.
func (d Digest) Hex() string { return hex.EncodeToString(d[:]) }

// appendRandom appends n uniformly distributed digits. It discards bytes from
// 248 = 4*62 on, which would favour the first digits.
func appendRandom(dst []byte, n int) []byte {
	var pool [64]byte
	for n > 0 {
		rand.Read(pool[:]) // never fails, see crypto/rand
		for _, b := range pool {
			if b < 248 && n > 0 {
				dst = append(dst, digits[b%62])
				n--
			}
		}
	}
	return dst
}

func appendChecksum(body []byte) []byte {
	sum := crc32.ChecksumIEEE(body)
	var tail [secretChecksum]byte
	for i := len(tail) - 1; i >= 0; i-- {
		tail[i] = digits[sum%62]
		sum /= 62
	}
	return append(body, tail[:]...)
}
