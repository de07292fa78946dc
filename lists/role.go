package lists

// Role is the category of a role account. A blob stores its number.
type Role uint8

// The ten categories of the contract, in its order, and Qualifier.
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
	// Qualifier is not a role: it is a region, language, place or department
	// that may accompany a role word, as in support-eu.
	Qualifier
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
	Qualifier: "Qualifier",
}

// String returns the name of r, which is empty for NoRole.
func (r Role) String() string { return roleNames[r] }

// RoleNamed returns the role with that name, or NoRole.
func RoleNamed(name string) Role {
	for r, n := range roleNames {
		if n == name {
			return Role(r)
		}
	}
	return NoRole
}
