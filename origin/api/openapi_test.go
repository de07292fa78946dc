package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenAPIDescribesEveryRouteAndCode(t *testing.T) {
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(description, &doc))
	require.Equal(t, "3.1.0", doc.OpenAPI)
	for path, r := range routes {
		if path == "/v1/email" {
			path = "/v1/email/{email}"
		}
		// HEAD and OPTIONS are only described in prose, so that generated clients
		// have no function for them.
		require.Contains(t, doc.Paths[path], strings.ToLower(r.methods[0]), path)
	}
	for _, c := range []code{invalidKey, wrongMediaType, bodyTooLarge, missingEmail, invalidFormat, invalidRequest,
		emptyBatch, batchSizeExceeded, insufficientUsage, idemConflict, idemMismatch, internal, cancelled} {
		require.Contains(t, string(description), c.name)
	}
}
