package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// digest returns a hash that begins with a digit.
func digest(digit string) string { return digit + strings.Repeat("0", 63) }

const (
	sampleMonth    = 2026*12 + 9
	samplePassword = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)

// sampleDay is a day of sampleMonth.
var sampleDay = time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC).Unix() / 86400

// sampleRows has rows in every table: null and all kinds of values, IDs with gaps, text
// that sorts differently by bytes and by language. Account 2 and key 3 are over their
// limits, which were lowered.
var sampleRows = map[string][]string{
	"plans":    {`["Zebra",-1,-1,false,0]`, `["free",1,5,false,1099511627776]`, `["Ärzte",7,5,true,1]`},
	"accounts": {fmt.Sprintf(`[2,"b@example.org","free",null,null,5,%d,9,1795000000123456789,null,null,3,7]`, sampleMonth), `[5,"ä\u003c\u0026\u003e\"\\@example.org","Ärzte",-1,0,5,0,0,0,true,77,0,0]`},
	"keys": {fmt.Sprintf(`[3,2,"laptop","ask_abcd",1,null,null,8,null,%d,9,0,"https://shop.example http://localhost:3000",false,"sign-up",false]`, sampleMonth),
		`[4,2,"Dashboard","",1,2,3,0,9,24322,0,5,"",true,"gone",false]`},
	"secrets":    {`["` + digest("a") + `",3,null]`, `["` + digest("b") + `",3,8]`},
	"usage":      {`[2,3,-719498,0,1,1,0,0,0,0,0,0,0,0,0]`, fmt.Sprintf(`[2,3,%d,9,2,1,4,5,1,1,1,1,1,1,1]`, sampleDay)},
	"answers":    {`[2,"` + digest("a") + `","` + digest("c") + `","AA==",1,9]`, `[2,"` + digest("b") + `","` + digest("c") + `","AP8Kew==",4,9]`},
	"users":      {`[2,"Bea","` + samplePassword + `",true,"sealed1.0a0b0c0d.x",58,"handle",1]`},
	"sessions":   {`[9,"` + digest("a") + `",2,"Firefox on Linux",1,2,3,4,true]`},
	"links":      {`["` + digest("a") + `",2,5]`},
	"identities": {`["https://id.example","B",2,1]`, `["https://id.example","a",2,1]`},
	"passkeys":   {`["id",2,"phone","{\"k\":\"v\"}",1,2]`}, "recovery_codes": {`[2,"` + digest("a") + `"]`},
	"challenges": {`["` + digest("a") + `","{}",4]`}, "attempts": {`["` + digest("a") + `",6]`},
	"audit":      {`[1,2,3,"owner","key.create","3 laptop"]`},
	"policies":   {`[2,"sign-up","{\"block\":{\"reasons\":[\"disposable\"]}}",7,1]`},
	"webhooks":   {`[2,"https://hooks.example.com/x","whsec_x","",0,0,1]`},
	"deliveries": {`[2,24322,80,"msg_1","{}",1,2,1,0,"503"]`},
}

// sampleLast is the highest ID given out; nothing was ever given out for others.
var sampleLast = map[string]int64{"accounts": 8, "keys": 4, "sessions": 9, "audit": 1}

// sample returns an export of the sample rows.
func sample(t testing.TB) []byte { return encode(t, sampleRows, sampleLast) }

// encode returns an export of rows.
func encode(t testing.TB, rows map[string][]string, last map[string]int64) []byte {
	t.Helper()
	var out bytes.Buffer
	line := func(v any) {
		text := must(json.Marshal(v))(t)
		out.Write(append(text, '\n'))
	}
	counts := Counts{}
	line(header{formatName, formatVersion, firstSchema})
	for _, table := range tables {
		start := tableLine{Table: table.name, Columns: table.columns}
		if table.numbered {
			id := last[table.name]
			start.LastID = &id
		}
		line(start)
		for _, row := range rows[table.name] {
			out.WriteString(row + "\n")
		}
		counts[table.name] = int64(len(rows[table.name]))
	}
	sum := sha256.Sum256(out.Bytes())
	line(endLine{counts, hex.EncodeToString(sum[:])})
	return out.Bytes()
}

// withChecksum corrects the checksum, so that a test reaches what is behind it.
func withChecksum(file []byte) []byte {
	last := bytes.LastIndexByte(bytes.TrimSuffix(file, []byte("\n")), '\n') + 1
	at := bytes.LastIndex(file[last:], []byte(`"sha256":"`))
	if at < 0 || len(file) < last+at+10+64 {
		return file
	}
	sum := sha256.Sum256(file[:last])
	fixed := bytes.Clone(file)
	hex.Encode(fixed[last+at+10:], sum[:])
	return fixed
}

// rowsOf returns an export without its first and last line, which have the schema's version
// and the checksum.
func rowsOf(export string) string {
	_, rest, _ := strings.Cut(export, "\n")
	return rest[:strings.LastIndex(strings.TrimSuffix(rest, "\n"), "\n")+1]
}
