//go:build !unix

package doctor

import "context"

// nothing is the check of a part that this system does not have.
func nothing(name string) Check {
	return Check{name, func(context.Context) (string, error) { return "", nil }}
}

// Disk, Files and Limits look at nothing on this system.
func Disk(...string) Check      { return nothing("disk") }
func Files(_, _ []string) Check { return nothing("files") }
func Limits(_, _, _ int) Check  { return nothing("limits") }

// Owners knows nothing on this system.
func Owners(string) error { return nil }

// Ours cannot know on this system.
func Ours(string) bool { return false }
