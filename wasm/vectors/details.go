package vectors

import (
	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

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
