//go:build !unix

package archive

// giveToOwner leaves the file to who runs the command.
func giveToOwner(string, string) error { return nil }
