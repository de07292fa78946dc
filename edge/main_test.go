package edge_test

import (
	"fmt"
	"os"
	"testing"
)

// common is the directory of what is built once for all tests.
var common string

func TestMain(m *testing.M) {
	var err error
	if common, err = os.MkdirTemp("", "addrspec-edge-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(common)
	os.Exit(code)
}
