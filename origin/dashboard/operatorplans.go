package dashboard

import (
	"strconv"

	"github.com/addrspec/addrspec/origin/ledger"
)

// plansView is the operator's page of plans.
type plansView struct {
	Plans []ledger.Plan `json:"plans"`
}

func (d *Dashboard) plans(v *visit) (any, error) {
	plans, err := d.Ledger.Plans(v.r.Context())
	return plansView{plans}, err
}

// putPlan adds a plan or replaces the one with its name, from the next request of
// its accounts on.
func (d *Dashboard) putPlan(v *visit) (*outcome, error) {
	plan := ledger.Plan{Name: v.form.Get("name"), Overage: v.form.Get("overage") != "", Stored: ledger.DefaultStored}
	for field, limit := range map[string]*ledger.Limit{"rate": &plan.Rate, "points": &plan.Points} {
		given, err := v.limit(field)
		if err != nil {
			return nil, err
		}
		if given == nil {
			return nil, inputProblem(field, "Give both rate and points: a number, or unlimited.")
		}
		*limit = *given
	}
	if text := v.form.Get("stored"); text != "" {
		stored, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, inputProblem("stored", "The stored bytes must be a number.")
		}
		plan.Stored = stored
	}
	if err := d.Ledger.StorePlans(v.r.Context(), []ledger.Plan{plan}); err != nil {
		return nil, accountProblem(err)
	}
	return redirect("/dashboard/operator/plans", "plan-stored"), nil
}
