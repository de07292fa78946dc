package dashboard

// maxBatch is how many addresses POST /v1/emails takes.
const maxBatch = 64

// listsView is the page Lists. Its JSON says what a list may cost before it is
// checked.
type listsView struct {
	Points pointsView `json:"points"`
	Batch  int        `json:"-"`
	URL    string     `json:"-"`
}

func (d *Dashboard) lists(v *visit) (any, error) {
	points, err := v.points()
	return listsView{points, maxBatch, d.link("/v1/emails")}, err
}
