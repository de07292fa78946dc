package api

import (
	"net/http"
	"time"
)

// securityTxt answers GET /.well-known/security.txt in the media type that RFC 9116
// section 3 requires, or 404 if no contact is configured.
func (s *Server) securityTxt(r *http.Request) response {
	if s.SecurityTxt == nil || len(s.SecurityTxt.Contacts) == 0 {
		return s.notFound(r)
	}
	return response{status: http.StatusOK, body: s.SecurityTxt.Text(time.Now()), contentType: "text/plain; charset=utf-8"}
}
