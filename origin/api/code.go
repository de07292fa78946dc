package api

// A code is a kind of problem: the word that a program reads, the HTTP status
// that goes with it, and the shape of its body. codes.go has them all; it is
// generated from the table that the worker has too (origin/contract/problems).
type code struct {
	name   string
	status int
	shape  shape
}

// with is a problem of this code.
func (c code) with(message string) *problem { return &problem{code: c, message: message} }
