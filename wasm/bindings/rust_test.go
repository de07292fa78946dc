package bindings_test

import (
	"path/filepath"
	"testing"
)

func init() {
	bindings["Rust"] = rust
}

// rust builds incrementally; the first time cargo fetches and compiles an engine.
func rust(t *testing.T) []string {
	target := filepath.Join(cache(t), "rust")
	build(t, "rust", find(t, "cargo"), "build", "--release", "--quiet", "--locked", "--target-dir", target)
	return []string{filepath.Join(target, "release", "addrspec-host")}
}
