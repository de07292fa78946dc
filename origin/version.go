package main

import (
	"runtime/debug"
)

// release is the commit's short name, set by build.sh at link time.
var release = "dev"

// version returns the output of --version: the release and the version of Go.
func version() string {
	text := "addrspec " + release
	if info, ok := debug.ReadBuildInfo(); ok {
		text += " (" + info.GoVersion + ")"
	}
	return text
}
