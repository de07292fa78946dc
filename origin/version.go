package main

import (
	"runtime/debug"
)

// release is stamped by build.sh with the commit's short name.
var release = "dev"

// version is what --version prints: the release and the Go it was built with.
func version() string {
	text := "addrspec " + release
	if info, ok := debug.ReadBuildInfo(); ok {
		text += " (" + info.GoVersion + ")"
	}
	return text
}
