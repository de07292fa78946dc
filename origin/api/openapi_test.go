package api

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The edge's path is described in openapi-edge.json, which is not served: its
// only readers work on origin and worker, which are built from one commit. Messages to /mcp
// are described by its tools.
func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	edgeDescription, err := os.ReadFile("openapi-edge.json")
	require.NoError(t, err)
	public, edges := describedPaths(t, description), describedPaths(t, edgeDescription)
	require.Equal(t, len(routes)-1, len(public)+len(edges))
	for path, r := range routes {
		described := public
		switch path {
		case "/v1/email":
			path = "/v1/email/{email}"
		case edgePath:
			described = edges
		case mcpPath:
			continue
		}
		for _, method := range r.methods {
			if method != "HEAD" { // as GET
				require.Contains(t, described[path], strings.ToLower(method), path)
			}
		}
	}
}

func describedPaths(t *testing.T, text []byte) map[string]map[string]any {
	var document struct {
		OpenAPI string
		Servers []struct{ URL string }
		Paths   map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(text, &document))
	require.Regexp(t, `^3\.1\.`, document.OpenAPI)
	require.Equal(t, "/", document.Servers[0].URL)
	return document.Paths
}
