package doctor

import "fmt"

// refuseNetwork returns an error for the type of a network file system.
func refuseNetwork(kind int64) error {
	if name := networkFileSystems[kind]; name != "" {
		return fmt.Errorf("the database is on %s, where SQLite can lose charges: move it to a local disk, or use PostgreSQL", name)
	}
	return nil
}
