// Package ndjsontest has an export for tests. No program that ships imports it.
package ndjsontest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
)

// Rows has rows in every table: null and all kinds of values, IDs with gaps,
// text that sorts differently by bytes and by language.
var Rows = map[string][][]any{
	"plans":    {{"Zebra", int64(-1), int64(-1), false, int64(0)}, {"free", int64(1), int64(1000), true, int64(1 << 40)}, {"Ärzte", int64(7), int64(5), true, int64(1)}},
	"accounts": {{int64(2), "b@example.org", "free", nil, nil, int64(5), int64(24322), int64(9), int64(1795000000123456789), nil, nil, int64(3)}, {int64(5), "ä<&>\u2028\"\\\t@example.org", "Ärzte", int64(-1), int64(0), int64(5), int64(0), int64(0), int64(0), true, int64(77), int64(0)}},
	"keys":     {{int64(3), int64(2), "laptop", "ask_ab", int64(1), nil, nil, nil, nil, int64(0), int64(0), int64(0), "https://shop.example", false}, {int64(4), int64(2), "", "ask_cd", int64(1), int64(2), int64(3), int64(0), int64(9), int64(24322), int64(4), int64(-5), "", true}},
	"secrets":  {{"B" + hash, int64(3), nil}, {"a" + hash, int64(3), int64(8)}},
	"usage":    {{int64(2), int64(3), int64(20757), int64(9), int64(2), int64(1), int64(4), int64(5), int64(1), int64(1), int64(1), int64(1), int64(1), int64(1), int64(1)}},
	"answers":  {{int64(2), "r1", "h", []byte{}, int64(0), int64(9)}, {int64(2), "r2", "h", []byte{0, 255, '\n', '{'}, int64(4), int64(9)}},
	"users":    {{int64(2), "Bea", "$argon2id$x", true, "SECRET", int64(58), "handle", int64(1)}},
	"sessions": {{int64(9), hash, int64(2), "Firefox on Linux", int64(1), int64(2), int64(3), int64(4), true}},
	"links":    {{hash, int64(2), int64(5)}}, "recovery_codes": {{int64(2), "A"}, {int64(2), "b"}},
	"passkeys":   {{"id", int64(2), "phone", `{"k":"v"}`, int64(1), int64(2)}},
	"identities": {{"https://id.example", "B", int64(2), int64(1)}, {"https://id.example", "a", int64(2), int64(1)}},
	"challenges": {{hash, "{}", int64(4)}}, "attempts": {{hash, int64(6)}},
	"audit":      {{int64(1), int64(2), int64(3), "owner", "key.create", "3 laptop"}},
	"webhooks":   {{int64(2), "https://hook.example/x", "whsec_x", "", int64(0), int64(0), int64(1)}},
	"deliveries": {{int64(2), int64(24322), int64(80), "msg_1", "{}", int64(1), int64(2), int64(1), int64(0), "503"}},
}

const hash = "0000000000000000000000000000000000000000000000000000000000000000"

// Last is the highest ID given out; nothing was ever given out for others.
var Last = map[string]int64{"accounts": 8, "keys": 4, "sessions": 9, "audit": 1}

// Sample returns an export of the sample rows.
func Sample(t testing.TB) []byte { return Encode(t, Rows, Last) }

// Encode returns an export of rows.
func Encode(t testing.TB, rows map[string][][]any, last map[string]int64) []byte {
	var out bytes.Buffer
	e := ndjson.NewEncoder(&out)
	require.NoError(t, e.Header())
	for _, table := range ndjson.Tables {
		require.NoError(t, e.Begin(table, last[table.Name]))
		for _, row := range rows[table.Name] {
			require.NoError(t, e.Row(table, row))
		}
	}
	require.NoError(t, e.End())
	return out.Bytes()
}
