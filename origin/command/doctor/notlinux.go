//go:build !linux

package doctor

// LocalDisk cannot know on this system.
func LocalDisk(string) error { return nil }

// synchronised cannot know on this system.
func synchronised() error { return nil }
