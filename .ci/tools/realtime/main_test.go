package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const source = `package p

func TestA(t *testing.T) {
	start := time.Now()
	time.Sleep(time.Second)
	require.Less(t, time.Since(start), time.Second)
	require.WithinDuration(t, start, start, time.Second)
	took := time.Now().Sub(start)
	time.Sleep(1) // real time: the server is slow on purpose
	_ = start.Sub(start)
}

func BenchmarkA(b *testing.B) { time.Sleep(1) }

func measure(b *testing.B) { time.Sleep(1) }

func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { time.Sleep(1) })
	time.Sleep(2)
}
`

func TestFindings(t *testing.T) {
	found, err := inFile("a_test.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range found {
		lines = append(lines, strings.Split(f, ":")[1])
	}
	if want := []string{"5", "6", "7", "8", "19"}; !reflect.DeepEqual(lines, want) {
		t.Errorf("lines %v, want %v:\n%s", lines, want, strings.Join(found, "\n"))
	}
	found, err = inFile("a_test.go", []byte(source+"\n// Simulated time: all runs in TestBubble.\n"))
	if err != nil || len(found) > 0 {
		t.Errorf("a simulation: %v, %v", found, err)
	}
}

// Only tests of this project count.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "a_test.go", "node_modules/b_test.go", ".ci/c_test.go"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("package p\nvar _ = time.Since(x)\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := inTree(dir)
	if want := []string{"a_test.go:2: var _ = time.Since(x)"}; err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := inTree(filepath.Join(dir, "missing")); err == nil {
		t.Error("no error without the directory")
	}
}
