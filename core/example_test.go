package core_test

import (
	"encoding/json"
	"fmt"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

func ExampleCheck() {
	facts := core.Check("Support+eu@Example.org")
	fmt.Println(facts.Valid, string(facts.Normalized), facts.Alias)
	fmt.Println(facts.Role, facts.Role == core.Support)
	// Output:
	// true support+eu@example.org true
	// Support true
}

// An address that is not valid has a reason with a stable code, the section of the
// standard, the offset of the byte, and a sentence for people.
func ExampleFacts_Why() {
	facts := core.Check("jane.@example.org")
	fmt.Println(facts.Valid, facts.Refusal.Reason.Code(), facts.Refusal.Offset)
	fmt.Println(facts.Why())
	// Output:
	// false local_part_ends_with_dot 4
	// the local part ends with a dot; remove it
}

func ExampleFacts_Suggestion() {
	facts := core.Check("jane@gmial.com")
	fmt.Println(string(facts.Typo), facts.Suggestion())
	// Output: gmail.com jane@gmail.com
}

// Facts inside a program's own types are written by the contract of the service.
func ExampleFacts_MarshalJSON() {
	row := struct {
		ID    int
		Facts core.Facts
	}{7, core.Check("jane@example.org")}
	text, err := json.Marshal(row)
	fmt.Println(len(text) > 100, err)
	fmt.Println(string(text[:66]))
	// Output:
	// true <nil>
	// {"ID":7,"Facts":{"email":"jane@example.org","valid":true,"normaliz
}

// A Checker allocates nothing per address. Its Facts are valid until the next Check.
func ExampleChecker() {
	checker := core.New(lists.Default())
	for _, email := range []string{"jane@example.org", "no-reply@example.org"} {
		facts := checker.Check([]byte(email))
		fmt.Println(string(facts.Email), facts.Role == core.NoReply)
	}
	// Output:
	// jane@example.org false
	// no-reply@example.org true
}
