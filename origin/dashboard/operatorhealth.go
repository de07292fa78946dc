package dashboard

// A Health is the state of one part of the service.
type Health struct {
	Part   string `json:"part"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what is wrong and what to do, or a version
}

// healthView is the operator's page of health.
type healthView struct {
	Parts []Health `json:"parts"`
}

func (d *Dashboard) health(v *visit) (any, error) {
	return healthView{d.Health(v.r.Context())}, nil
}
