package format

// The integers of a blob, little-endian. encoding/binary would add reflection
// to the module.

// Uint16 reads the first two bytes of b.
func Uint16(b []byte) int { return int(b[0]) | int(b[1])<<8 }

// Uint24 reads the first three bytes of b.
func Uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// Uint32 reads the first four bytes of b.
func Uint32(b []byte) int { return Uint24(b) | int(b[3])<<24 }

// AppendUint24 appends the three low bytes of n to dst.
func AppendUint24(dst []byte, n int) []byte {
	return append(dst, byte(n), byte(n>>8), byte(n>>16))
}
