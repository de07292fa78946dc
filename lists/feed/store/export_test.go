package store

// Finish is finish, for the tests.
func (f File) Finish() error {
	now, err := f.Read()
	if err != nil {
		return err
	}
	return f.finish(now)
}
