package vectors

import (
	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

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
