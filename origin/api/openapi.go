package api

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.json
var description []byte

// openAPI answers GET /openapi.json: the OpenAPI 3.1 description.
func (s *Server) openAPI(*http.Request) response {
	return response{status: http.StatusOK, body: description}
}
