//go:build !linux

package doctor

// networkFileSystems are not known on this system.
var networkFileSystems map[int64]string

// LocalDisk cannot know on this system.
func LocalDisk(string) error { return nil }
