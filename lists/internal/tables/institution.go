package tables

import "strings"

// isInstitution reports whether name is below a suffix reserved for
// institutions: schools, governments, armies and the like. Lists of public
// providers contain some such names, but not everybody can open a mailbox there.
func isInstitution(name string) bool {
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	if reserved[last] {
		return true
	}
	return len(last) == 2 && len(labels) > 2 && reserved[labels[len(labels)-2]]
}

// reserved are top-level domains, and second-level labels below a country's
// (ac.uk), that only institutions can use.
var reserved = map[string]bool{
	"edu": true, "gov": true, "mil": true, "int": true, "museum": true,
	"ac": true, "sch": true, "school": true, "k12": true, "gob": true,
	"gouv": true, "gub": true, "go": true, "res": true, "nhs": true, "police": true,
}
