package service

import "runtime/debug"

// Release is the commit's short name, set by build.sh at link time.
var Release = "dev"

// Version returns the output of --version: the release and the version of Go.
func Version() string {
	text := "addrspec " + Release
	if info, ok := debug.ReadBuildInfo(); ok {
		text += " (" + info.GoVersion + ")"
	}
	return text
}
