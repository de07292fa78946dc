package dashboard

import "github.com/addrspec/addrspec/origin/dashboard/docs"

// A docsView is a page of the documentation.
type docsView struct{ *docs.Page }

// PageTitle returns the title of the page in the browser's window.
func (v docsView) PageTitle() string { return v.Title }

// documentation shows a page of /docs.
func (d *Dashboard) documentation(v *visit) (any, error) {
	site, err := d.docs()
	if err != nil {
		return nil, err
	}
	page := site.Page(v.r.URL.Path)
	if page == nil {
		return nil, errNotFound
	}
	return docsView{page}, nil
}
