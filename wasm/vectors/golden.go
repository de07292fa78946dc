package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Vector is one golden answer.
type Vector struct {
	Email  string
	Answer string // the line, without its end
}

// Read reads the golden answers in dir, file by file.
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

func readFile(path string) (list []Vector, err error) {
	octets, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(octets) {
		var row struct{ Email *string }
		if err := json.Unmarshal(line, &row); err != nil || row.Email == nil {
			return nil, fmt.Errorf("%s:%d: not an object with an email", path, len(list)+1)
		}
		list = append(list, Vector{*row.Email, string(bytes.TrimRight(line, "\n"))})
	}
	return list, nil
}
