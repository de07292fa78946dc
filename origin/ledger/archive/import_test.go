package archive

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

// read reads an export as Import does, without a database.
func read(r io.Reader) error {
	d := &decoder{sum: sha256.New(), rows: Counts{}}
	if _, err := d.begin(r); err != nil {
		return err
	}
	j := newJudge(parsePolicy)
	for i := range tables {
		visit := func(row []any) error { return j.judge(&tables[i], row, d.line) }
		if _, err := d.table(&tables[i], visit); err != nil {
			return err
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	return j.end()
}

// Every truncation is found, wherever it is, and every changed byte.
func TestDamageIsFound(t *testing.T) {
	whole := sample(t)
	require.NoError(t, read(bytes.NewReader(whole)))
	step := 1
	if testing.Short() {
		step = 7
	}
	for n := 0; n < len(whole)-1; n += step {
		require.ErrorIs(t, read(bytes.NewReader(whole[:n])), errDamaged, "the first %d bytes", n)
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		require.Error(t, read(bytes.NewReader(changed)), "byte %d", n)
	}
}

// A compressed export is read, and one that is truncated is found.
func TestCompressed(t *testing.T) {
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	_, err := z.Write(sample(t))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	whole := file.Bytes()
	require.NoError(t, read(bytes.NewReader(whole)))
	for n := range whole {
		require.ErrorIs(t, read(bytes.NewReader(whole[:n])), errDamaged, "the first %d bytes", n)
	}
}

// Each is refused with the numbers of its line and the name of its column, and no row is
// written. The commands refuse the same values.
func TestRefusedExports(t *testing.T) {
	whole := string(sample(t))
	var ledgers int
	for name, c := range map[string]struct{ old, new, want string }{
		"another file":      {`{"format":"addrspec ledger"`, `{"format":"x"`, "line 1: it does not begin an export"},
		"newer format":      {`"version":1`, `"version":2`, "import it with the newer release"},
		"newer schema":      {`"schema":7`, `"schema":99`, "made by another release"},
		"older schema":      {`"schema":7`, `"schema":6`, "made by another release"},
		"another table":     {`{"table":"plans"`, `{"table":"secrets"`, "table plans, line 2: it does not start the table"},
		"another column":    {`"rate","points","overage","stored"]`, `"rate","points","overage"]`, "line 2: it does not start the table"},
		"too few values":    {`["free",1,5,false,`, `["free",1,5,`, "line 4: it is not a row of 5 values"},
		"a fraction":        {`["free",1,`, `["free",1.5,`, "line 4: column rate: it is not a whole number"},
		"beyond 64 bits":    {`["free",1,`, `["free",9223372036854775808,`, "line 4: column rate: it is not a whole number"},
		"null":              {`["free",1,`, `["free",null,`, "line 4: column rate: it is not a whole number"},
		"text as number":    {`["free",1,`, `[5,1,`, "line 4: column name: it is not a string"},
		"number as boolean": {`5,false`, `5,1`, "line 4: column overage: it is not true or false"},
		"bad base 64":       {`"AP8Kew=="`, `"AP8Kew="`, "column answer: it is not a string in base 64"},
		"not JSON":          {`["free",1,5,false,1099511627776]`, `["free"`, "line 4: it is not a row"},
		"an empty line":     {"[\"free\"", "\n[\"free\"", "line 4: it is not a row"},
		"not UTF-8":         {`["free"`, "[\"\xff\"", "line 4: it is not UTF-8"},
		"ID beyond last_id": {`"last_id":8`, `"last_id":4`, "table accounts, line 8: column id: it is not between"},
		"IDs out of order":  {`[5,"ä`, `[1,"ä`, "line 8: column id: it is not between"},
		"last_id too large": {`"last_id":8`, `"last_id":4611686018427387904`, "line 6: last_id is out of range"},
		"a row less":        {`["Ärzte",7,5,true,1]` + "\n", "", "there is no such plan"},
		"more text":         {`"}` + "\n", "\"}\nx", "there is text after the line with the checksum"},

		"a zero byte":             {`["free",1,`, `["fr\u0000ee",1,`, "line 4: column name: the name of a plan"},
		"rate of a plan":          {`["free",1,5`, `["free",2000000000,5`, "table plans, line 4: column rate: the rate 2000000000 is outside 1 to 1000000"},
		"rate 0":                  {`["free",1,5`, `["free",0,5`, "column rate: the rate 0 is outside"},
		"points of a plan":        {`["free",1,5`, `["free",1,-2`, "line 4: column points: -2 points"},
		"storage of a plan":       {`1099511627776`, `-1`, "line 4: column stored: -1 stored bytes"},
		"name of a plan":          {`["Zebra"`, `["\u001b[31m"`, "line 3: column name"},
		"email":                   {`"b@example.org"`, `"b example.org"`, "table accounts, line 7: column email: the account's email needs an @"},
		"email in upper case":     {`"b@example.org"`, `"B@example.org"`, "line 7: column email: it must be in lower case"},
		"rate of an account":      {`"Ärzte",-1,0`, `"Ärzte",2000000000,0`, "line 8: column rate: the rate 2000000000"},
		"negative stored":         {`null,null,3,7]`, `null,null,-3,7]`, "line 7: column stored: it must be 0 to"},
		"negative used":           {`,9,1795000000123456789`, `,-9,1795000000123456789`, "line 7: column used: it must be 0 to"},
		"used beyond the history": {`,9,1795000000123456789`, `,10,1795000000123456789`, "table accounts, line 7, column used: it is over the limit, and the usage history has only 9 points"},
		"used in another month":   {`[2,3,-719498,0,`, `[2,3,-719498,-1,`, "column points: it must be 0 to"},
		"budget beyond":           {`,9,0,"https`, `,10,0,"https`, "table keys, line 10, column used: it is over the limit"},
		"unknown plan":            {`"b@example.org","free"`, `"b@example.org","none"`, "line 7: column plan: there is no such plan"},
		"key of no account":       {`[3,2,"laptop"`, `[3,1,"laptop"`, "table keys, line 10: column account: there is no such account"},
		"name of a key":           {`"laptop"`, `""`, "line 10: column name: the name of a key"},
		"budget of a key":         {`null,8,null`, `null,-1,null`, "line 10: column budget: it must be 0 to"},
		"rate of a key":           {`3,0,9,24322`, `3,0,2000000000,24322`, "line 11: column rate: the rate 2000000000"},
		"rate of a test key":      {`"gone",false`, `"gone",true`, "line 11: column budget: a test key"},
		"expiry of a key":         {`1,2,3,0,9`, `1,2,9223372036854775807,0,9`, "line 11: column expires_ns: it must be 0 to"},
		"origin":                  {`https://shop.example http`, `https://shop.example/x http`, "line 10: column origins:"},
		"origin in another form":  {`https://shop.example http`, `https://shop.example:443 http`, "line 10: column origins: they are not in the form"},
		"default policy":          {`"sign-up",false]`, `"none",false]`, "table keys, line 10, column policy: the account has no such policy"},
		"secret":                  {`["a00`, `["A00`, "table secrets, line 13: column hash: it must have 64"},
		"secret of no key":        {`0",3,8]`, `0",9,8]`, "line 14: column key: there is no such key"},
		"usage of another's key":  {`[2,3,-719498`, `[5,3,-719498`, "table usage, line 16: column key: the key is another account's"},
		"size of an answer":       {`"AP8Kew==",4`, `"AP8Kew==",5`, "column size: it is not the length"},
		"name of a user":          {`"Bea"`, `"B\u0007"`, "table users, line 22: column name"},
		"dear password":           {`m=19456`, `m=4194304`, "column password: The password's hash"},
		"session of no user":      {`",2,"Firefox`, `",5,"Firefox`, "table sessions, line 24: column account: there is no such user"},
		"passkey":                 {`"{\"k\":\"v\"}"`, `"{"`, "column credential: it must be JSON"},
		"actor":                   {`"owner"`, `"nobody"`, "column actor"},
		"URL of a webhook":        {`https://hooks.example.com/x`, `http://127.0.0.1/`, "table webhooks, line 41: column url: the webhook's URL is not accepted"},
		"percent":                 {`24322,80`, `24322,81`, "column percent"},
		"policy":                  {`[\"disposable\"]`, `[\"nonsense\"]`, "table policies, line 45: column document: block.reasons[0]"},
		"name of a policy":        {`[2,"sign-up"`, `[2,"Sign up"`, "line 45: column name: the name of a policy"},
		"version of a policy":     {`}",7,1]`, `}",8,1]`, "column version"},
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
		url := newSQLite(t)
		_, err := Import(t.Context(), url, strings.NewReader(changed), parsePolicy)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "b@example.org", name)
		if _, err := os.Stat(pathOf(url)); err == nil {
			require.Equal(t, []string{"0"}, query(t, url, "SELECT count(*) FROM accounts"), name)
			ledgers++
		}
	}
	require.Greater(t, ledgers, 40, "most are found in the rows")
}

func TestLongLine(t *testing.T) {
	first, _, _ := strings.Cut(string(sample(t)), "\n")
	endless := io.MultiReader(strings.NewReader(first+"\n[\""), io.LimitReader(letters{}, 1<<40))
	require.ErrorContains(t, read(endless), "it is longer than 16777216 bytes")
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// An account whose deletion has begun may be exported: it is suspended, and its history and
// its policies may be gone.
func TestAccountInDeletion(t *testing.T) {
	rows := map[string][]string{"plans": sampleRows["plans"], "keys": sampleRows["keys"],
		"accounts": {strings.Replace(sampleRows["accounts"][0], "null,null,3,7]", "null,8,3,7]", 1)}}
	require.NoError(t, read(bytes.NewReader(encode(t, rows, sampleLast))))
	rows["accounts"] = sampleRows["accounts"]
	require.ErrorContains(t, read(bytes.NewReader(encode(t, rows, sampleLast))), "table ")
}

// The export of a ledger that commit 3a41b124 made and charged. An account of it has used
// requests before its first charge, and points beyond a limit that was lowered.
func TestExportOfSchema7(t *testing.T) {
	whole, err := os.ReadFile("testdata/schema7.ndjson")
	require.NoError(t, err)
	url := newSQLite(t)
	requireImport(t, url, whole)
	require.Equal(t, rowsOf(string(whole)), rowsOf(requireExport(t, url)))
	l, err := ledger.Open(t.Context(), url)
	require.NoError(t, err)
	defer l.Close()
	a, err := l.AccountByEmail(t.Context(), "shop@example.org")
	require.NoError(t, err)
	require.EqualValues(t, 20, a.Points)
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
