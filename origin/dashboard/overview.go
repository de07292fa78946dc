package dashboard

// overviewView is the page Overview.
type overviewView struct{}

func (d *Dashboard) overview(*visit) (any, error) { return overviewView{}, nil }
