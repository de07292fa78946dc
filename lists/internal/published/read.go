package published

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// readArray reads a JSON array of names.
func readArray(file []byte) (names []string, err error) {
	err = json.Unmarshal(file, &names)
	return names, err
}

// readLines reads one name per line.
func readLines(file []byte) ([]string, error) {
	return strings.Fields(string(file)), nil
}

// readFakefilter reads the keys of the object "domains".
func readFakefilter(file []byte) (names []string, err error) {
	var data struct{ Domains map[string]struct{} }
	err = json.Unmarshal(file, &data)
	for name := range data.Domains {
		names = append(names, name)
	}
	return names, err
}

// readMailchecker reads the only array literal of the package's JavaScript.
func readMailchecker(file []byte) ([]string, error) {
	_, rest, found := bytes.Cut(file, []byte("new Set("))
	array, _, closed := bytes.Cut(rest, []byte(")"))
	if !found || !closed {
		return nil, errors.New("no `new Set(...)` in it: has the package changed?")
	}
	return readArray(array)
}

// readPython reads the set `blocklist` of the package's Python, one quoted name
// per line. Older versions have a second set, of real providers.
func readPython(file []byte) (names []string, err error) {
	_, rest, found := bytes.Cut(file, []byte("blocklist = {\n"))
	set, _, closed := bytes.Cut(rest, []byte("\n}"))
	if !found || !closed {
		return nil, errors.New("no set `blocklist = {...}` in it: has the package changed?")
	}
	for line := range bytes.Lines(set) {
		name := strings.Trim(strings.TrimSpace(string(line)), `'",`)
		if strings.ContainsAny(name, ` '"#\`) {
			return nil, errors.New("a line of the set `blocklist` is not one quoted name: has the package changed?")
		}
		names = append(names, name)
	}
	return names, nil
}
