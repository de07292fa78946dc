package lists

// Role is the category of a role account, or another class of words in
// roles.txt. A blob stores its number.
type Role uint8

// The ten categories of the contract, in its order, and the other classes of
// words. roles.txt explains them.
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
	Team   // a team, an office: General, and a Unit beside another role word
	Unit   // a department, a desk
	Place  // a region, country, city or language
	Market // a two-letter code of a large country or language
	Code   // another two-letter code
	Noun   // another word that may accompany a role word
	Phrase // words that mean something else together
)

// roleNames are the names of the roles, in roles.txt and in results.
var roleNames = [...]string{
	NoRole:    "",
	Admin:     "Admin",
	Support:   "Support",
	Sales:     "Sales",
	Marketing: "Marketing",
	General:   "General",
	NoReply:   "NoReply",
	Billing:   "Billing",
	Legal:     "Legal",
	IT:        "IT",
	HR:        "HR",
	Team:      "Team",
	Unit:      "Unit",
	Place:     "Place",
	Market:    "Market",
	Code:      "Code",
	Noun:      "Noun",
	Phrase:    "Phrase",
}

// String returns the name of r, which is empty for NoRole.
func (r Role) String() string { return roleNames[r] }

// IsRole reports whether r is one of the ten categories.
func (r Role) IsRole() bool { return Admin <= r && r <= HR }

// RoleNamed returns the role or class with that name, or NoRole.
func RoleNamed(name string) Role {
	for r, n := range roleNames {
		if n == name {
			return Role(r)
		}
	}
	return NoRole
}

// Word is what roles.txt contains about a word: its class in the low bits, and
// marks. It is zero for a word that is not listed.
type Word uint8

// The marks of role words that people also use in names and handles.
const (
	Common Word = 1 << (5 + iota) // no Code qualifies it
	Alone                         // only a Unit qualifies it
	Ending                        // words that are not listed may precede it
	marks  = Common | Alone | Ending
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

// MarkNamed returns the mark with that name in roles.txt, or 0.
func MarkNamed(name string) Word {
	switch name {
	case "common":
		return Common
	case "alone":
		return Alone
	case "ending":
		return Ending
	}
	return 0
}
