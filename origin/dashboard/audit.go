package dashboard

import "strconv"

// auditLines is how many lines a page of the audit log has.
const auditLines = 50

// auditLogView is a page of the audit log.
type auditLogView struct {
	Lines []auditView `json:"lines"`
	Next  int64       `json:"next,omitempty"` // for ?before= of the page that follows

	Earlier bool `json:"-"` // this is not the first page
}

func (d *Dashboard) auditPage(v *visit) (any, error) {
	before, err := beforeOf(v)
	if err != nil {
		return nil, err
	}
	list, err := d.Ledger.AuditLog(v.r.Context(), v.user.Account, before, auditLines+1)
	view := auditLogView{Lines: []auditView{}, Earlier: before != 0}
	for _, line := range list[:min(len(list), auditLines)] {
		view.Lines = append(view.Lines, auditView{line.At, string(line.Actor), line.Action, line.Subject})
	}
	if len(list) > auditLines {
		view.Next = list[auditLines-1].ID
	}
	return view, err
}

// beforeOf returns the line before which a page of the log begins; 0 is the newest
// page.
func beforeOf(v *visit) (int64, error) {
	text := v.r.URL.Query().Get("before")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, errNotFound
	}
	return n, nil
}
