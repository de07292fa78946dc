package vectors

import (
	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// Native returns a function that gives core's own answer, without the module,
// to an address. It serves one goroutine.
func Native() func(email string, fullSuggestion bool) []byte {
	checker := core.New(lists.Default())
	return func(email string, fullSuggestion bool) []byte {
		facts := checker.Check([]byte(email))
		json, _ := core.AppendJSON(nil, &facts, fullSuggestion)
		return json
	}
}
