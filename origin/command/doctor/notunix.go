//go:build !unix

package doctor

import "context"

// Disk and Limits look at nothing on this system.
func Disk(...string) Check     { return Check{"disk", nothing} }
func Limits(_, _, _ int) Check { return Check{"limits", nothing} }

func nothing(context.Context) (string, error) { return "", nil }

// Ours cannot know on this system.
func Ours(string) bool { return false }
