package bindings_test

import "testing"

func init() {
	bindings["JavaScript in Node"] = javascript("node")
	bindings["JavaScript in Deno"] = javascript("deno", "run", "--allow-read")
	bindings["JavaScript in Bun"] = javascript("bun")
}

func javascript(program string, args ...string) func(t *testing.T) []string {
	return func(t *testing.T) []string {
		return append(append([]string{find(t, program)}, args...), "javascript/addrspec.mjs")
	}
}
