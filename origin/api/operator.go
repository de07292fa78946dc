package api

import "net/http"

// What an operator's tools ask: of these routes, public ones stay on the public
// listener when the operator has one.
var operatorRoutes = map[string]struct{ public bool }{
	"healthz": {true},
	"readyz":  {false},
	"metrics": {false},
}

// public is the route as the public listener has it.
func (s *Server) publicRoute(r route) route {
	if of, ok := operatorRoutes[r.name]; ok && s.OperatorApart && !of.public {
		return route{"none", nil, (*Server).notFound}
	}
	return r
}

// Operator is the handler of the operator's own listener.
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
