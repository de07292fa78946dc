package vectors

import (
	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// NativeDetails is Native with the member details.
func NativeDetails() func(email string) []byte {
	checker := core.New(lists.Default())
	return func(email string) []byte {
		facts := checker.Check([]byte(email))
		json, _ := core.AppendJSON(nil, &facts, false)
		return checker.AppendDetails(json, &facts)
	}
}
