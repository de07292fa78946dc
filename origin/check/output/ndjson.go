// Package output encodes checked records.
package output

import (
	"encoding/json"

	"github.com/addrspec/addrspec/origin/check"
)

// NDJSON writes one JSON object a line: the result, or an object with the address
// and the error.
type NDJSON struct{}

// Head appends nothing: NDJSON has no header.
func (NDJSON) Head(dst []byte) ([]byte, error) { return dst, nil }

// Append appends the line of one record.
func (NDJSON) Append(dst []byte, r *check.Record, o *check.Outcome) ([]byte, error) {
	if o.Code == "" {
		return append(append(dst, o.JSON...), '\n'), nil
	}
	line, err := json.Marshal(map[string]any{"email": r.Email, "error": map[string]string{"code": o.Code, "message": o.Message}})
	return append(append(dst, line...), '\n'), err
}
