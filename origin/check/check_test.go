package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/client"
	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// What is in a file decides if a run goes on after it. The last record that it should have is
// line 3 of the list: Bob, with a line break in a cell and a formula in another.
func TestResumable(t *testing.T) {
	const head = "\uFEFFname,email,note,valid\n"
	const whole = head + "Ann,a@mail.example,x,true\nBob,b@mail.example,\"one\r\ntwo\",true\n"
	rows := &pipeline.Record{Email: "b@mail.example", Cells: []string{"Bob", "b@mail.example", "one\r\ntwo"}}
	line := &pipeline.Record{Email: "b@mail.example"}
	formula, other := &pipeline.Record{Email: "=b@mail.example"}, &pipeline.Record{Email: "x@mail.example"}
	lines := "{\"email\":\"a@mail.example\",\"valid\":true}\n{\"email\":\"b@mail.example\",\"valid\":true}\n"
	bad := &pipeline.Record{Err: pipeline.ErrNoAddress}
	for name, c := range map[string]struct {
		file, format, head string
		resume             int64
		last               *pipeline.Record
		safe               bool
		says               string // "" if the run may go on
	}{
		"its own":                  {file: whole, format: "csv", head: head, resume: 2, last: rows},
		"a finished one":           {file: whole, format: "csv", head: head, resume: 1, last: rows, says: "has 2 records, so go on with --resume 2, or remove it"},
		"a shorter one":            {file: whole, format: "csv", head: head, resume: 7, last: rows, says: "has 2 records"},
		"of another list":          {file: whole, format: "csv", head: head, resume: 2, last: other, says: "does not end with record 2 of this input"},
		"of another layout":        {file: whole, format: "csv", head: "email,valid\n", resume: 2, last: rows, says: "does not begin as a run with this input"},
		"without a mark":           {file: whole, format: "csv", head: head[3:], resume: 2, last: rows, says: "does not begin"},
		"shorter than a head":      {file: "name", format: "csv", head: head, resume: 2, last: rows, says: "does not begin"},
		"cut within a row":         {file: whole + "Cyd,c@mail", format: "csv", head: head, resume: 2, last: rows, says: "ends within a record: remove what follows its last whole record"},
		"cut within quotes":        {file: whole + "Cyd,c@mail.example,\"on\n", format: "csv", head: head, resume: 2, last: rows, says: "cannot be read: "},
		"cut at the end of a cell": {file: whole + "Cyd,c@mail.example,x,true", format: "csv", head: head, resume: 3, last: rows, says: "ends within a record"},
		"escaped":                  {file: "n,e,o,v\nB,'=b@mail.example,x,true\n", format: "csv", head: "n,e,o,v\n", resume: 1, last: formula, safe: true},
		"not escaped":              {file: "n,e,o,v\nB,=b@mail.example,x,true\n", format: "csv", head: "n,e,o,v\n", resume: 1, last: formula, safe: true, says: "does not end with"},
		"objects":                  {file: lines, format: "ndjson", resume: 2, last: line},
		"fewer objects":            {file: lines, format: "ndjson", resume: 3, last: line, says: "go on with --resume 2"},
		"other objects":            {file: lines, format: "ndjson", resume: 2, last: rows},
		"objects of another list":  {file: lines, format: "ndjson", resume: 2, last: other, says: "does not end with"},
		"an object without result": {file: "{\"error\":{\"code\":\"NO_ADDRESS\"},\"line\":1}\n", format: "ndjson", resume: 1, last: bad},
		"half an object":           {file: lines + "{\"email", format: "ndjson", resume: 2, last: line, says: "ends within a record"},
		"no objects":               {file: "<html>\n", format: "ndjson", resume: 1, last: line, says: "does not end with"},
		"a table":                  {file: "ADDRESS\n", format: "table", head: "ADDRESS\n", resume: 1, last: line, says: "has a table, to which --resume cannot add"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			require.NoError(t, os.WriteFile(path, []byte(c.file), 0o600))
			file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
			require.NoError(t, err)
			defer file.Close()
			out := &checkOutput{flags: &outputFlags{CSVSafe: c.safe}, file: file, size: int64(len(c.file)),
				skipped: &skipping{count: c.resume, last: *c.last}}
			err = out.resumable(c.format, ',', []byte(c.head))
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "--output "+path+" ")
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "mail.example")
		})
	}
}

// Before a run, what it costs and what is left is said.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	left := int64(1234)
	usage := &client.Usage{}
	usage.Points.Remaining, usage.Points.Refill = &left, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for addresses, want := range map[int64]string{
		-1:   "One point for each different address of a batch; 1,234 left until 1 Dec 2026.\n",
		1:    "1 point at most; 1,234 left until 1 Dec 2026.\n",
		1234: "1,234 points at most; 1,234 left until 1 Dec 2026.\n",
		5000: "5,000 points at most; 1,234 left until 1 Dec 2026.\n" +
			"That may not be enough: the run ends when no points are left for a batch.\n",
	} {
		var out strings.Builder
		announce(&out, usage, addresses)
		require.Equal(t, want, out.String())
	}
	usage.Points.Remaining = nil
	var out strings.Builder
	announce(&out, usage, 5000)
	require.Equal(t, "5,000 points at most; the account has no limit.\n", out.String())
}

// A key may have white space around it, as the content of a file has that became ADDRSPEC_KEY.
func TestReadKeyTrims(t *testing.T) {
	t.Parallel()
	const key = "ask_000000000000000000000000000000002CGNRW"
	for _, given := range []string{key, key + "\n", "\t" + key + "\r\n"} {
		flags := ServerFlags{Key: given}
		read, err := flags.readKey()
		require.NoError(t, err, "%q", given)
		require.Equal(t, key, read)
	}
	flags := ServerFlags{Key: " \n"}
	_, err := flags.readKey()
	require.ErrorContains(t, err, "needs an API key")
}

// A stopped run names the flags to go on with, also those that it has from its key.
func TestStoppedRunNamesItsFlags(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for want, in := range map[string]*checkInput{
		"9 records written; go on with --resume 9 --policy own, and append to the output so far with >>": {},
		"9 records written; go on with --resume 9 --policy own, with the same input again, and append " +
			"to the output so far with >>": {stdinUsed: true},
		"9 records written": {stdinUsed: true, typed: true},
	} {
		j := &job{Command: &Command{Resume: 2}, in: in, resume: []string{"--policy", "own"}}
		err := j.stopped(ctx, ctx.Err(), pipeline.Counts{Records: 7}, &checkOutput{})
		require.EqualError(t, err, "interrupted: "+want)
	}
}
