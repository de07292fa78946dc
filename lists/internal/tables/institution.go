package tables

import "strings"

// organisation reports whether the ending of name is kept for schools,
// governments or armies. Public lists carry some of them along; their
// mailboxes are not open to everybody.
func organisation(name string) bool {
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	if reserved[last] {
		return true
	}
	return len(last) == 2 && len(labels) > 2 && reserved[labels[len(labels)-2]]
}

var reserved = map[string]bool{
	"edu": true, "gov": true, "mil": true, "int": true, "museum": true,
	"ac": true, "sch": true, "school": true, "k12": true, "gob": true,
	"gouv": true, "gub": true, "go": true, "res": true, "nhs": true, "police": true,
}
