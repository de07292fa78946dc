package output

import (
	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/result"
)

// refusalOf returns why an address is not valid. A service gives it with the
// details, the module in any case.
func refusalOf(r *result.Result, o *check.Outcome) result.Refusal {
	if o.Refusal.Code == "" && r.Details != nil && r.Details.Refusal != nil {
		return *r.Details.Refusal
	}
	return o.Refusal
}

// evidenceOf returns the details with empty values in place of nil ones.
func evidenceOf(r *result.Result) result.Details {
	var d result.Details
	if r.Details != nil {
		d = *r.Details
	}
	if d.Role == nil {
		d.Role = new(result.RoleEvidence)
	}
	if d.Provider == nil {
		d.Provider = new(result.ProviderEvidence)
	}
	return d
}
