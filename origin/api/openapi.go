package api

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.json
var description []byte

// Description returns the OpenAPI 3.1 description of the API. The caller must
// not change it.
func Description() []byte { return description }

// openAPI answers GET /openapi.json.
func (s *Server) openAPI(*http.Request) response {
	return response{status: http.StatusOK, body: description}
}
