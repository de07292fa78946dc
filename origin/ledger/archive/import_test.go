package archive

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// read reads an export as Import does, without a database.
func read(r io.Reader) error {
	d := &decoder{policy: parsePolicy, sum: sha256.New(), rows: Counts{}}
	if err := d.begin(r); err != nil {
		return err
	}
	for i := range tables {
		if err := d.table(&tables[i]); err != nil {
			return err
		}
		for row := []any{0}; row != nil; {
			var err error
			row, err = d.row(&tables[i])
			if err != nil {
				return err
			}
		}
	}
	return d.end()
}

// Every truncation is found, wherever it is, every changed byte, and a line that is too long.
func TestDamageIsFound(t *testing.T) {
	whole, step := sample(t), 1
	require.NoError(t, read(bytes.NewReader(whole)))
	if testing.Short() {
		step = 7
	}
	for n := 0; n < len(whole)-1; n += step {
		require.ErrorIs(t, read(bytes.NewReader(whole[:n])), errDamaged, "the first %d bytes", n)
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		require.Error(t, read(bytes.NewReader(changed)), "byte %d", n)
	}
	first, _, _ := strings.Cut(string(whole), "\n")
	require.ErrorContains(t, read(strings.NewReader(first+"\n"+strings.Repeat("a", maxLine))), "it is longer than 16777216 bytes")
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	must(z.Write(whole))(t)
	require.NoError(t, z.Close())
	require.NoError(t, read(bytes.NewReader(file.Bytes())))
	for n := range file.Bytes() {
		require.ErrorIs(t, read(bytes.NewReader(file.Bytes()[:n])), errDamaged, "the first %d bytes, compressed", n)
	}
}

// Each is refused with the number of its line, and no row is written. The commands refuse the
// same values.
func TestRefusedExports(t *testing.T) {
	whole := string(sample(t))
	refused := map[string][2]string{"cut off": {whole[:len(whole)/2], "table users, line 22: it is not a row"}}
	for name, c := range map[string]struct{ old, new, want string }{
		"another file":      {`{"format":"addrspec ledger"`, `{"format":"x"`, "line 1: it does not begin an export"},
		"newer format":      {`"version":1`, `"version":2`, "its format has version 2"},
		"newer schema":      {`"schema":7`, `"schema":99`, "made by another release"},
		"older schema":      {`"schema":7`, `"schema":6`, "made by another release"},
		"another table":     {`{"table":"plans"`, `{"table":"secrets"`, "table plans, line 2: it does not start the table"},
		"another column":    {`"rate","points","overage","stored"]`, `"rate","points","overage"]`, "line 2: it does not start the table"},
		"too few values":    {`["free",1,5,false,`, `["free",1,5,`, "line 4: it is not a row of 5 values"},
		"a fraction":        {`["free",1,`, `["free",1.5,`, "line 4: column rate: it is not a whole number"},
		"beyond 64 bits":    {`["free",1,`, `["free",9223372036854775808,`, "line 4: column rate: it is not a whole number"},
		"text as number":    {`["free",1,`, `[5,1,`, "line 4: column name: it is not a string"},
		"number as boolean": {`5,false`, `5,1`, "line 4: column overage: it is not true or false"},
		"bad base 64":       {`"AP8Kew=="`, `"AP8Kew="`, "column answer: it is not a string in base 64"},
		"not JSON":          {`["free",1,5,false,1099511627776]`, `["free"`, "line 4: it is not a row"},
		"an empty line":     {"[\"free\"", "\n[\"free\"", "line 4: it is not a row"},
		"not UTF-8":         {`["free"`, "[\"\xff\"", "line 4: it is not UTF-8"},
		"an ID twice":       {`[5,"ä`, `[2,"ä`, "table accounts, line "},
		"a row less":        {`["Ärzte",7,5,true,1]` + "\n", "", "the database refuses a row up to this line"},
		"more text":         {`"}` + "\n", "\"}\nx", "there is text after the line with the checksum"},

		"null":                   {`["free",1,`, `[null,1,`, "line 4: the name of a plan"},
		"null in a number":       {`,2,"Firefox`, `,null,"Firefox`, "table sessions, line 2"},
		"storage of a plan":      {`1099511627776`, `-1`, "line 4: -1 stored bytes"},
		"a zero byte":            {`["free",1,`, `["fr\u0000ee",1,`, "line 4: the name of a plan"},
		"rate of a plan":         {`["free",1,5`, `["free",2000000000,5`, "table plans, line 4: the rate 2000000000 is outside 1 to 1000000"},
		"rate 0":                 {`["free",1,5`, `["free",0,5`, "line 4: the rate 0 is outside"},
		"points of a plan":       {`["free",1,5`, `["free",1,-2`, "line 4: -2 points"},
		"name of a plan":         {`["Zebra"`, `["\u001b[31m"`, "line 3: the name of a plan"},
		"email":                  {`"b@example.org"`, `"b example.org"`, "table accounts, line 7: the account's email needs an @"},
		"email in upper case":    {`"b@example.org"`, `"B@example.org"`, "line 7: column email: it must be in lower case"},
		"rate of an account":     {`"Ärzte",-1,0`, `"Ärzte",2000000000,0`, "line 8: the rate 2000000000"},
		"unknown plan":           {`"b@example.org","free"`, `"b@example.org","none"`, "the database refuses a row up to this line"},
		"key of no account":      {`[3,2,"laptop"`, `[3,1,"laptop"`, "table keys, line 1"},
		"name of a key":          {`"laptop"`, `""`, "line 10: the name of a key"},
		"budget of a key":        {`null,8,null`, `null,-1,null`, "line 10: a key's budget must be a number"},
		"rate of a key":          {`3,0,9,24322`, `3,0,2000000000,24322`, "line 11: the rate 2000000000"},
		"rate of a test key":     {`"gone",false`, `"gone",true`, "line 11: a test key"},
		"origin":                 {`https://shop.example http`, `https://shop.example/x http`, "line 10: \"https://shop.example/x\" is not an origin"},
		"origin in another form": {`https://shop.example http`, `https://shop.example:443 http`, "line 10: column origins: they are not in the form"},
		"secret of no key":       {`0",3,8]`, `0",9,8]`, "table secrets, line 1"},
		"name of a user":         {`"Bea"`, `"B\u0007"`, "table users, line 22: "},
		"dear password":          {`m=19456`, `m=4194304`, "line 22: The password's hash"},
		"session of no user":     {`",2,"Firefox`, `",5,"Firefox`, "table sessions, line 2"},
		"URL of a webhook":       {`https://hooks.example.com/x`, `http://127.0.0.1/`, "table webhooks, line 41: the webhook's URL is not accepted"},
		"policy":                 {`[\"disposable\"]`, `[\"nonsense\"]`, "table policies, line 45: block.reasons[0]"},
		"name of a policy":       {`[2,"sign-up"`, `[2,"Sign up"`, "line 45: the name of a policy"},
	} {
		at := strings.Index(whole, c.old)
		require.NotEqual(t, -1, at, name)
		if name == "more text" {
			at = strings.LastIndex(whole, c.old)
		}
		changed := whole[:at] + c.new + whole[at+len(c.old):]
		if name != "more text" {
			changed = string(withChecksum([]byte(changed)))
		}
		refused[name] = [2]string{changed, c.want}
	}
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		for name, c := range refused {
			_, err := Import(t.Context(), url, strings.NewReader(c[0]), parsePolicy)
			if assert.ErrorContains(t, err, c[1], name) {
				require.NotContains(t, err.Error(), "b@example.org", name)
			}
		}
		require.Equal(t, []string{"0"}, query(t, url, "SELECT count(*) FROM accounts"))
	})
}

// A backup and an export of commit 3a41b124 become a ledger of this schema, which charges.
func TestCopiesOfSchema7(t *testing.T) {
	copies := map[string][]byte{}
	for _, name := range []string{"3a41b124.db", "3a41b124.ndjson"} {
		file := must(os.Open("testdata/" + name + ".gz"))(t)
		defer file.Close()
		unpacked := must(gzip.NewReader(file))(t)
		copies[name] = must(io.ReadAll(unpacked))(t)
	}
	requireCharges := func(t *testing.T, url string) {
		l := must(ledger.Open(t.Context(), url))(t)
		defer l.Close()
		require.NoError(t, ledgertest.Charge(l, "ask_eKV91M5LC7OUoFeeBUgOoBi6wAB8Kcy22gIxIw"))
		require.Equal(t, []string{"8"}, query(t, url, "SELECT sum(points) FROM usage WHERE account = 1"))
	}
	t.Run("restore", func(t *testing.T) {
		backup, url := filepath.Join(t.TempDir(), "backup.db"), newSQLite(t)
		require.NoError(t, os.WriteFile(backup, copies["3a41b124.db"], 0o600))
		r := must(Restore(t.Context(), backup, pathOf(url), RestoreOptions{}))(t)
		require.Equal(t, []int{7, 2, 8}, []int{r.Schema, r.Accounts, r.Keys})
		requireCharges(t, url)
		require.Equal(t, []string{strconv.Itoa(store.Version)}, query(t, url, "PRAGMA user_version"))
	})
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		requireImport(t, url, copies["3a41b124.ndjson"])
		require.Equal(t, rowsOf(string(copies["3a41b124.ndjson"])), rowsOf(requireExport(t, url)))
		requireCharges(t, url)
		require.Contains(t, requireExport(t, url), fmt.Sprintf(`"schema":%d}`, store.Version))
	})
}

// FuzzImport: no file makes reading and judging panic.
func FuzzImport(f *testing.F) {
	whole := sample(f)
	f.Add(whole)
	f.Add(whole[:len(whole)/2]) // truncated
	f.Add(bytes.Replace(whole, []byte(`"free",1`), []byte(`"free",null`), 1))
	f.Add(bytes.Replace(whole, []byte(`"free"`), []byte(`"\ud800"`), 1)) // half of a surrogate pair
	f.Add([]byte("\x1f\x8b\x08"))                                        // gzip, cut off
	f.Fuzz(func(t *testing.T, file []byte) {
		_ = read(bytes.NewReader(file))
		_ = read(bytes.NewReader(withChecksum(file)))
	})
}
