//go:build !linux

package doctor

// LocalDisk cannot know on this system, and neither can synchronised.
func LocalDisk(string) error { return nil }
func synchronised() error    { return nil }
