package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/policy"
	"github.com/addrspec/addrspec/lists"
)

// Policy is a case of policies.jsonl: a document and the verdict on an address, or the error
// with its place and offset if the document is no policy. The cases were written from the contract, not computed.
type Policy struct {
	Document   string          `json:"policy"`
	Error      string          `json:"error"`
	Place      string          `json:"place"`
	Offset     int             `json:"offset"`
	Email      string          `json:"email"`
	Disposable bool            `json:"disposable"` // the host has found that all exchanges are
	MX         *bool           `json:"mx"`         // null: nothing was looked up
	Address    *bool           `json:"address"`    // whether there is an address record; null: not looked up
	Exchanges  []string        `json:"exchanges"`  // names of the exchanges, "*" last if there are more; missing: none is known
	Verdict    json.RawMessage `json:"verdict"`    // the very bytes
}

// ReadPolicies returns the cases of policies.jsonl in dir.
func ReadPolicies(dir string) (list []Policy, err error) {
	path := filepath.Join(dir, "policies.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var p Policy
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&p); err != nil || (p.Error == "") == (p.Verdict == nil) {
			return nil, fmt.Errorf("%s:%d: not a case with either an error or a verdict: %w", path, len(list)+1, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// Lookup returns what the host of a case found, as a word of the interface (wasm/ABI.md).
func (p *Policy) Lookup() policy.Lookup {
	return known(p.MX, policy.LookedUp, policy.HasMX) | known(p.Address, policy.AddressLookedUp, policy.HasAddress)
}

func known(fact *bool, looked, has policy.Lookup) policy.Lookup {
	switch {
	case fact == nil:
		return 0
	case *fact:
		return looked | has
	}
	return looked
}

// NativeVerdict returns the verdict of core/policy on a case as JSON, or the text of the
// error.
func (p *Policy) NativeVerdict() string {
	checker := core.New(lists.Default())
	parsed, err := policy.Parse([]byte(p.Document), checker)
	if err != nil {
		return err.Error()
	}
	facts := checker.Check([]byte(p.Email))
	facts.Disposable = facts.Disposable || p.Disposable
	in := policy.Of(&facts, checker.Form(&facts))
	in.Lookup = p.Lookup()
	for _, name := range p.Exchanges {
		in.Exchanges = append(in.Exchanges, []byte(name))
	}
	return string(policy.AppendJSON(nil, parsed.Evaluate(&in, checker)))
}

// NativeInput returns a function that returns what a policy needs to know about an address.
// The function is not safe for concurrent use, and what it returns is valid until the next
// call.
func NativeInput() func(email string) policy.Input {
	checker := core.New(lists.Default())
	return func(email string) policy.Input {
		facts := checker.Check([]byte(email))
		return policy.Of(&facts, checker.Form(&facts))
	}
}
