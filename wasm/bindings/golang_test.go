package bindings_test

import (
	"path/filepath"
	"testing"
)

func init() {
	bindings["Go"] = golang
}

func golang(t *testing.T) []string {
	program := filepath.Join(t.TempDir(), "host")
	build(t, ".", "go", "build", "-o", program, "./go")
	useTestCache(t) // not before go build, which would compile the standard library again
	return []string{program}
}
