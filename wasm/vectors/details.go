package vectors

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// A golden line of details ends with noVersions; a result has the versions between
// versionsStart and resultEnd.
const noVersions, versionsStart, resultEnd = `"versions":null}}`, `"versions":`, `}}`

// ReadDetails returns the vectors of each *.ndjson file in the folder details of dir,
// by path: results with details, of the versions of this program.
func ReadDetails(dir string) (map[string][]Vector, error) {
	files, err := Read(filepath.Join(dir, "details"))
	versions := core.New(lists.Default()).AppendVersions([]byte(versionsStart))
	end := string(append(versions, resultEnd...))
	for _, list := range files {
		for n := range list {
			if before, found := strings.CutSuffix(list[n].Answer, noVersions); found {
				list[n].Answer = before + end
			}
		}
	}
	return files, err
}

// WithoutVersions returns a result with details as a golden line has it.
func WithoutVersions(result []byte) []byte {
	at := bytes.LastIndex(result, []byte(versionsStart))
	return append(result[:at:at], noVersions...)
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
