// Command refresh rewrites the golden results, details and reports with those of
// the current core:
//
//	go generate ./wasm/vectors
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/addrspec/addrspec/wasm/vectors"
)

func main() {
	dir := "." // go generate runs commands in the directory of the package
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := errors.Join(refresh(dir), refreshDetails(filepath.Join(dir, "details"))); err != nil {
		fmt.Fprintln(os.Stderr, "refresh:", err)
		os.Exit(1)
	}
}

// refresh rewrites the *.ndjson files in dir and reports.jsonl.
func refresh(dir string) error {
	files, err := vectors.Read(dir)
	if err != nil {
		return err
	}
	result, report := vectors.Native(), vectors.NativeReport()
	var reports bytes.Buffer
	encoder := json.NewEncoder(&reports)
	encoder.SetEscapeHTML(false)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		var results bytes.Buffer
		for _, v := range files[path] {
			results.Write(append(result(v.Email, false), '\n'))
			if err := encoder.Encode(report(v.Email)); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path, results.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "reports.jsonl"), reports.Bytes(), 0o644)
}

// refreshDetails rewrites the *.ndjson files in dir with details.
func refreshDetails(dir string) error {
	files, err := vectors.Read(dir)
	if err != nil {
		return err
	}
	result := vectors.NativeDetails()
	for path, list := range files {
		var results []byte
		for _, v := range list {
			results = append(append(results, vectors.WithoutVersions(result(v.Email))...), '\n')
		}
		if err := os.WriteFile(path, results, 0o644); err != nil {
			return err
		}
	}
	return nil
}
