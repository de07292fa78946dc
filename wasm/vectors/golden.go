package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Vector is an address and its golden result.
type Vector struct {
	Email  string
	Answer string // the line, without its newline
}

// Read returns the vectors of each *.ndjson file in dir, by path.
func Read(dir string) (map[string][]Vector, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no *.ndjson in %s", dir)
	}
	files := map[string][]Vector{}
	for _, path := range paths {
		if files[path], err = readFile(path); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// readFile reads one *.ndjson file.
func readFile(path string) (list []Vector, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var row struct{ Email *string }
		if err := json.Unmarshal(line, &row); err != nil || row.Email == nil {
			return nil, fmt.Errorf("%s:%d: not an object with an email", path, len(list)+1)
		}
		list = append(list, Vector{*row.Email, string(bytes.TrimRight(line, "\n"))})
	}
	return list, nil
}
