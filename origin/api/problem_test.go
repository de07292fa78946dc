package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every code has the contract's shape for its status, in each operation.
func TestShapeOfEveryStatus(t *testing.T) {
	byStatus := map[int][2]shape{ // single, batch
		400: {flat, enveloped}, 401: {flat, flat}, 402: {flat, enveloped}, 403: {flat, flat}, 404: {flat, flat}, 405: {flat, flat},
		409: {flat, enveloped}, 413: {flat, enveloped}, 415: {flat, enveloped}, 422: {flat, enveloped}, 429: {rate, rate}, 500: {flat, flat}, 503: {flat, flat},
	}
	for _, c := range []code{notFound, wrongMethod, invalidEdgeSecret, invalidKey, tooMany, wrongMediaType, bodyTooLarge, missingEmail, invalidFormat,
		invalidRequest, emptyBatch, batchSizeExceeded, insufficientUsage, idemConflict, idemMismatch, internal, cancelled} {
		p := c.with("x")
		require.Equal(t, byStatus[c.status], [2]shape{p.shapeIn(singleStyle.inputShape), p.shapeIn(batchStyle.inputShape)}, c.name)
	}
}
