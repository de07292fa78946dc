// Package vectors has the test vectors for all hosts of the module: golden
// results for addresses of all kinds, and a generator of further addresses. Only tests
// import it.
//
// A line of an *.ndjson file is the exact result of the module for the address
// in its field email: the 16 fields, mx null, typo_suggestion a domain. In the
// directory details it is the result with flag 2 (details), but with null for the
// versions, which every change of the lists changes: a test puts the module's info
// there. A line of reports.jsonl is the report on an address, as wasm/ABI.md
// defines it; the addresses are those of the *.ndjson files beside it, in the order
// of the file names. To add a vector, add a line {"email":"…"} to an *.ndjson file.
// To write the results of the current core to all files, run
//
//	go generate ./wasm/vectors
//
// and review the difference before committing it: hosts are only compared with
// these files, so none of them detects a wrong golden result.
//
// A line of policies.jsonl is a case of a policy, written by hand: see [Policy].
package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

//go:generate go run ./refresh

// Vector is an address and its golden result.
type Vector struct {
	Email  string
	Result string // the line, without its newline
}

// Read returns the vectors of each *.ndjson file in dir, by path.
func Read(dir string) (map[string][]Vector, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no *.ndjson in %s", dir)
	}
	files := map[string][]Vector{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			var row struct{ Email *string }
			if err := json.Unmarshal(line, &row); err != nil || row.Email == nil {
				return nil, fmt.Errorf("%s:%d: not an object with an email", path, len(files[path])+1)
			}
			files[path] = append(files[path], Vector{*row.Email, string(bytes.TrimRight(line, "\n"))})
		}
	}
	return files, nil
}

// A golden line of details has noVersions where a result has the versions.
const noVersions, versionsStart = `"versions":null`, `"versions":`

// ReadDetails returns the vectors of each *.ndjson file in the directory details of dir,
// by path: results with details, of the versions of this program.
func ReadDetails(dir string) (map[string][]Vector, error) {
	files, err := Read(filepath.Join(dir, "details"))
	versions := string(core.New(lists.Default()).AppendVersions([]byte(versionsStart)))
	for _, list := range files {
		for n := range list {
			list[n].Result = strings.Replace(list[n].Result, noVersions, versions, 1)
		}
	}
	return files, err
}

// WithoutVersions returns a result with details as a golden line has it.
func WithoutVersions(result []byte) []byte {
	before, rest, _ := bytes.Cut(result, []byte(versionsStart))
	_, after, _ := bytes.Cut(rest, []byte("}"))
	return slices.Concat(before, []byte(noVersions), after)
}

// NativeDetails is Native with the member details.
func NativeDetails() func(email string) []byte {
	native := NativeWith()
	return func(email string) []byte { return native(email, false, true) }
}

// NativeWith is Native with both options.
func NativeWith() func(email string, fullSuggestion, details bool) []byte {
	checker := core.New(lists.Default())
	return func(email string, fullSuggestion, details bool) []byte {
		facts := checker.Check([]byte(email))
		json, _ := core.AppendJSON(nil, &facts, fullSuggestion)
		if details {
			json = checker.AppendDetails(json, &facts)
		}
		return json
	}
}

// Native returns a function that returns the result of core, run without the
// module. The function is not safe for concurrent use.
func Native() func(email string, fullSuggestion bool) []byte {
	checker := core.New(lists.Default())
	return func(email string, fullSuggestion bool) []byte {
		facts := checker.Check([]byte(email))
		json, _ := core.AppendJSON(nil, &facts, fullSuggestion)
		return json
	}
}

// Report is what a host reads in addition to the JSON.
type Report struct {
	Email    string `json:"email"`
	Valid    bool   `json:"valid"`
	Host     string `json:"host"`
	Code     string `json:"code"`
	Offset   int    `json:"offset"`
	Section  string `json:"section"`
	Sentence string `json:"sentence"`
}

// NativeReport returns a function that returns the report of core, run without
// the module. The function is not safe for concurrent use.
func NativeReport() func(email string) Report {
	checker := core.New(lists.Default())
	return func(email string) Report {
		f := checker.Check([]byte(email))
		if f.Valid {
			return Report{Email: email, Valid: true, Host: string(f.Host)}
		}
		r := f.Refusal
		return Report{Email: email, Code: r.Reason.Code(), Offset: r.Offset, Section: r.Reason.Section(),
			Sentence: string(r.AppendSentence(nil, f.Email))}
	}
}
