package api

import "net/http"

// operatorRoutes are the routes for the operator's tools. If the operator has a
// listener, only those with public set stay on the public one as well.
var operatorRoutes = map[string]struct{ public bool }{
	"healthz": {true},
	"readyz":  {false},
	"metrics": {false},
}

// publicRoute returns r, or the 404 route if the public listener does not serve
// r.
func (s *Server) publicRoute(r route) route {
	if of, ok := operatorRoutes[r.name]; ok && s.OperatorApart && !of.public {
		return route{"none", nil, (*Server).notFound}
	}
	return r
}

// Operator returns the handler of the operator's listener.
func (s *Server) Operator() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found := s.match(r)
		if _, ok := operatorRoutes[found.name]; !ok {
			found = route{"none", nil, (*Server).notOperatorPath}
		}
		s.answer(w, r, found)
	})
}

func (s *Server) notOperatorPath(*http.Request) response {
	return notFound.with("There is no such path on the operator's listener; it has GET /metrics, GET /readyz and GET /healthz.").response(flat)
}
