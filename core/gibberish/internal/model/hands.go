package model

// Where the letters a to z, symbols 1 to 26, lie on a QWERTY keyboard: the
// column, and the row from the top. Other layouts move few letters, so what
// is typed without a thought on them goes short ways on this one too.
const (
	column = "\x00" + "\x00\x04\x02\x02\x02\x03\x04\x05\x07\x06\x07\x08\x06\x05\x08\x09\x00\x03\x01\x04\x06\x03\x01\x01\x05\x00"
	rowOf  = "\x00" + "\x01\x02\x02\x01\x00\x01\x01\x01\x00\x01\x01\x01\x02\x02\x00\x00\x00\x00\x01\x00\x00\x02\x00\x02\x00\x02"
)

// leftHand is the set of letters that the left hand types: columns 0 to 4.
const leftHand uint32 = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<17 | 1<<18 | 1<<19 | 1<<20 | 1<<22 | 1<<23 | 1<<24 | 1<<26

// steps holds what each two letters add to view.steps, sums of three things
// in one word; the first letter is bits 5 to 9. Other symbols add nothing.
var steps = func() (table [1 << 10]uint32) {
	for a := uint8(1); a < digit; a++ {
		for b := uint8(1); b < digit; b++ {
			oneHanded := ^(leftHand>>a ^ leftHand>>b) & 1
			table[int(a)<<5|int(b)] = uint32(distance(a, b)) + oneHanded<<oneHandedAt + 1<<pairsAt
		}
	}
	return table
}()

// Where the sums lie in view.steps: the distances, which stay below nine times
// MaxName, the pairs that one hand types, all pairs.
const (
	oneHandedAt = 10
	pairsAt     = oneHandedAt + 7
)

// distance is how many keys lie from one letter to another: the longer of the
// way across and the way up or down.
func distance(a, b uint8) int {
	across := int(column[a]) - int(column[b])
	down := int(rowOf[a]) - int(rowOf[b])
	return max(across, -across, down, -down)
}
