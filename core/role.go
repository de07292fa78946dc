package core

import "github.com/addrspec/addrspec/lists"

// Role is a category of role accounts; the zero value is none.
type Role uint8

// The ten categories of the contract, in its order.
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
)

var roleNames = [...][]byte{nil, []byte("Admin"), []byte("Support"), []byte("Sales"), []byte("Marketing"),
	[]byte("General"), []byte("NoReply"), []byte("Billing"), []byte("Legal"), []byte("IT"), []byte("HR")}

// name is the category as the contract spells it; nil for none.
func (r Role) name() []byte { return roleNames[r] }

// roleOf returns the role of name, a normalized local part without its tag.
func roleOf(l *lists.Lists, name []byte) Role { return Role(l.Role(name)) }
