package lists

import "slices"

// Role is the category of a role account, or another class of words in
// roles.txt. A blob stores its number.
type Role uint8

// The ten categories of the contract, in its order, and the other classes of words.
const (
	NoRole Role = iota
	Admin
	Support
	Sales
	Marketing
	General
	NoReply
	Billing
	Legal
	IT
	HR
	Team   // a team, an office: General, and a Unit next to another role word
	Unit   // a department, a desk
	Place  // a region, country, city or language
	Market // a two-letter code of a large country or language
	Code   // another two-letter code
	Noun   // another word that may accompany a role word
	Phrase // words that mean something else together
)

// roleNames are the names of the roles, in roles.txt and in results.
var roleNames = [...]string{"",
	"Admin", "Support", "Sales", "Marketing", "General", "NoReply", "Billing", "Legal", "IT", "HR",
	"Team", "Unit", "Place", "Market", "Code", "Noun", "Phrase"}

// String returns the name of r, which is empty for NoRole.
func (r Role) String() string { return roleNames[r] }

// IsRole reports whether r is one of the ten categories.
func (r Role) IsRole() bool { return Admin <= r && r <= HR }

// RoleNamed returns the role or class with that name, or NoRole.
func RoleNamed(name string) Role { return Role(max(0, slices.Index(roleNames[:], name))) }

// Word is the entry of a word in roles.txt: its class in the low bits, and
// marks. It is zero for a word that is not listed.
type Word uint8

// The marks of role words that people also use in names and handles.
const (
	Common Word = 1 << (5 + iota) // no Code qualifies it
	Alone                         // only a Unit qualifies it
	Ending                        // words that are not listed may precede it
	marks  = Common | Alone | Ending

	// Weak has both bits, so that one byte is enough: the word makes no role by itself.
	Weak = Common | Alone
)

// Class returns the role of w or its class of qualifiers.
func (w Word) Class() Role { return Role(w &^ marks) }

// Role returns the role of w alone, or NoRole.
func (w Word) Role() Role {
	switch c := w.Class(); {
	case c == Team:
		return General
	case c.IsRole():
		return c
	}
	return NoRole
}

// Has reports whether w has one of the marks m.
func (w Word) Has(m Word) bool { return w&m != 0 }

// IsWeak reports whether w has the mark Weak.
func (w Word) IsWeak() bool { return w&Weak == Weak }

// wordFilter is a set of hashes of the words of roles.txt. It rejects nine of ten words
// that are not listed without a lookup in their table; it rejects none that is listed.
type wordFilter [1 << hashBits / 8]byte

const hashBits = 15

// add adds a word, which has two bytes or more.
func (f *wordFilter) add(word []byte) {
	i := hash(word)
	f[i>>3] |= 1 << (i & 7)
}

func (f *wordFilter) mayHave(word []byte) bool {
	if len(word) < 2 {
		return false
	}
	i := hash(word)
	return f[i>>3]>>(i&7)&1 != 0
}

func hash(word []byte) uint32 {
	n := len(word)
	h := uint32(n) << 20
	h ^= uint32(word[0]) ^ uint32(word[1])<<5 ^ uint32(word[n/2])<<10 ^ uint32(word[n-1])<<15
	return h * 0x9E3779B1 >> (32 - hashBits)
}
