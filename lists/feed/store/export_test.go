package store

// Finish is finish, for the tests.
func (f File) Finish() error { return f.finish() }
