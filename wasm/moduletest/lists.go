package moduletest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Swapped is a domain that is public only in [NewerLists].
const Swapped = "swapped.example"

// NewerLists returns a blob of the project's own tables and [Swapped].
func NewerLists(t testing.TB) []byte {
	t.Helper()
	blob, err := newerLists()
	if err != nil {
		t.Fatalf("pack newer lists: %v", err)
	}
	return blob
}

var newerLists = sync.OnceValues(func() ([]byte, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "addrspec-lists-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(strings.TrimSpace(string(root)), "lists"))); err != nil {
		return nil, err
	}
	if err := appendTo(filepath.Join(dir, "public.txt"), "\n"+Swapped+" Test\n"); err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "run", "github.com/addrspec/addrspec/lists/pack", "-dir", dir).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(filepath.Join(dir, "lists.blob"))
})

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(text)
	return err
}
