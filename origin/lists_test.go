package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/ledgertest"
	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

const listZone = `
	example.test.   300 IN SOA ns.example.test. hm.example.test. 1 2 3 4 60
	*.list.test.    300 IN MX  10 mail.example.test.
	slow.test.      300 IN MX  10 mail.example.test.
`

// A listTask is one list for scripttest/lists.mjs.
type listTask struct {
	File    string `json:"file"`
	Out     string `json:"out"`
	Offline bool   `json:"offline"`
	Stop    int    `json:"stop"`  // after so many posts; then it goes on
	Crash   int    `json:"crash"` // likewise, without stopping
	Broke   bool   `json:"broke"` // points are used up on the way
	Again   bool   `json:"again"` // check the failures again
	Twice   bool   `json:"twice"` // in two tabs at the same time
	Timeout int    `json:"timeout,omitempty"`
	Picture string `json:"picture,omitempty"`
}

type listResult struct {
	Name, Cost, Paused, Again, Counts, Problem string
	Posts                                      int
	Surveyed, Seconds, Longest                 float64
	Memory, Size                               int64
}

// browserLists checks lists in Chromium as the account.
func browserLists(t testing.TB, s *service, account int64, tasks ...listTask) (results []listResult) {
	leftToCI(t)
	chromium := "/usr/bin/chromium"
	if _, err := os.Stat(chromium); err != nil {
		t.Skip("Chromium is not installed")
	}
	if _, err := os.Stat("../edge/node_modules/playwright-core"); err != nil {
		t.Skip("edge/node_modules is missing: npm ci --prefix edge")
	}
	token, err := identity.New(s.ledger).CreateLink(t.Context(), account)
	require.NoError(t, err)
	args := []string{"dashboard/scripttest/lists.mjs", chromium, "http://" + s.hostPort + "/link/" + token}
	for n, task := range tasks {
		text, err := json.Marshal(task)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.json", n))
		require.NoError(t, os.WriteFile(file, text, 0o600))
		args = append(args, file)
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", stderr.String())
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var result listResult
		require.NoError(t, decoder.Decode(&result))
		results = append(results, result)
	}
	require.Len(t, results, len(tasks))
	return results
}

func writeList(t testing.TB, name, text string) string {
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// readList reads a checked list: the rows by the names of the columns.
func readList(t testing.TB, file string) (rows []map[string]string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	for _, cells := range all[1:] {
		row := map[string]string{}
		for n, name := range all[0] {
			row[name] = cells[n]
		}
		rows = append(rows, row)
	}
	return rows
}

// thousandRows is a list with 900 different addresses, of which 100 are invalid,
// and 10 rows without one.
func thousandRows() string {
	var text strings.Builder
	text.WriteString("id,email,note\r\n")
	for n := range 1000 {
		switch {
		case n%100 == 50:
			fmt.Fprintf(&text, "%d,,=1+1\r\n", n)
		case n%10 == 9:
			fmt.Fprintf(&text, "%d,repeated%d@a.list.test,\"again, \"\"%d\"\"\"\r\n", n, n/100, n)
		case n%10 == 1:
			fmt.Fprintf(&text, "%d,person.%d.@example.test,\r\n", n, n)
		default:
			fmt.Fprintf(&text, "%d,person%d@b%d.list.test,\"two\r\nlines\"\r\n", n, n, n%7)
		}
	}
	return text.String()
}

// requireThousandRows requires what thousandRows becomes.
func requireThousandRows(t *testing.T, file string, mx bool) {
	rows := readList(t, file)
	require.Len(t, rows, 1000)
	for n, row := range rows {
		require.Equal(t, fmt.Sprint(n), row["id"])
		require.Equal(t, row["email"], row["addrspec_email"])
		valid := n%10 != 1 && row["email"] != ""
		require.Equal(t, valid, row["addrspec_valid"] == "true", row)
		require.Equal(t, mx && valid, row["addrspec_mx"] == "true", row)
		require.Empty(t, row["addrspec_error"])
	}
	require.Equal(t, "two\nlines", rows[0]["note"], "encoding/csv reads CRLF as LF")
	require.Equal(t, `again, "9"`, rows[9]["note"])
	require.Equal(t, "=1+1", rows[50]["note"], "cells of the file are unchanged")
}

const thousandCounts = "890 valid, 100 invalid, 0 could not be checked. 10 rows have no address. It cost %d points."

// A list goes in and comes out. It is stopped, and the page is loaded again
// without stopping; each different address is paid for once.
func TestListInBrowser(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	s := start(t, "--dns", mxtest.Start(t, listZone))
	_, account := ledgertest.NewAccountOn(t, s.ledger, testAccount, ledger.Terms{Rate: ledgertest.Limit(20), Points: ledgertest.Limit(5000)})
	dir := t.TempDir()
	results := browserLists(t, s, account,
		listTask{File: writeList(t, "stopped.csv", thousandRows()), Out: dir + "/stopped.csv", Stop: 3},
		listTask{File: writeList(t, "crashed.csv", thousandRows()), Out: dir + "/crashed.csv", Crash: 5},
		listTask{File: writeList(t, "offline.csv", thousandRows()), Out: dir + "/offline.csv", Offline: true})
	require.Equal(t, "stopped.checked.csv", results[0].Name)
	require.Equal(t, "990 addresses cost at most 900 points. Your account has 5,000 left.", results[0].Cost)
	require.Regexp(t, `^[1-9]\d\d of 1,000 rows are done`, results[0].Paused)
	require.Equal(t, fmt.Sprintf(thousandCounts, 900), results[0].Counts)
	require.Equal(t, fmt.Sprintf(thousandCounts, 900), results[1].Counts)
	require.Equal(t, fmt.Sprintf(thousandCounts, 0), results[2].Counts)
	require.Zero(t, results[2].Posts)
	require.Equal(t, int64(1800), s.used(t))
	requireThousandRows(t, dir+"/stopped.csv", true)
	requireThousandRows(t, dir+"/crashed.csv", true)
	requireThousandRows(t, dir+"/offline.csv", false)
}

// The addresses of a domain whose lookup failed are checked again, and no others.
func TestFailuresOfAListAreCheckedAgain(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	zone := mxtest.New(t, listZone)
	s := start(t, "--dns", zone.Addr)
	_, account := ledgertest.NewAccountOn(t, s.ledger, testAccount, ledger.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()})
	zone.Respond("slow.test", mxtest.ServFail)
	go func() {
		for t.Context().Err() == nil && ledgertest.Used(t, s.ledger, testAccount) < 300 {
			time.Sleep(20 * time.Millisecond) // real time: the pause of a poll
		}
		zone.Respond("slow.test", mxtest.Answer)
	}()
	var text strings.Builder
	for n := range 300 {
		domain := "a.list.test"
		if n%25 == 3 {
			domain = "slow.test"
		}
		fmt.Fprintf(&text, "person%d@%s\n", n, domain)
	}
	out := filepath.Join(t.TempDir(), "out.csv")
	results := browserLists(t, s, account, listTask{File: writeList(t, "people.txt", text.String()), Out: out, Again: true})
	require.Equal(t, "Check the 12 failures again", results[0].Again)
	require.Equal(t, "300 valid, 0 invalid, 0 could not be checked. It cost 312 points.", results[0].Counts)
	require.Equal(t, int64(312), s.used(t))
	rows := readList(t, out)
	require.Len(t, rows, 300)
	for n, row := range rows {
		require.True(t, strings.HasPrefix(row["email"], fmt.Sprintf("person%d@", n)))
		require.Equal(t, row["address"], row["email"])
		require.Equal(t, "true", row["mx"], row)
	}
}

// When the points are used up, the list stops with what it has, and goes on when
// there are more.
func TestPointsRunOutOnAList(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	s := start(t, "--dns", mxtest.Start(t, listZone))
	_, account := s.limitedKey(t, 500)
	go func() {
		for t.Context().Err() == nil && ledgertest.Used(t, s.ledger, testAccount) < 400 {
			time.Sleep(20 * time.Millisecond) // real time: the pause of a poll
		}
		time.Sleep(time.Second) // real time: the page shows its pause, which the script reads
		_ = s.ledger.ChangeTerms(t.Context(), account, ledger.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(900)})
	}()
	out := filepath.Join(t.TempDir(), "out.csv")
	results := browserLists(t, s, account, listTask{File: writeList(t, "people.csv", thousandRows()), Out: out, Broke: true})
	require.Contains(t, results[0].Cost, "cost at most 900 points, but your account has 500 left until")
	require.Equal(t, "Your account has too few points. 52 are left and the next batch needs 64. What is checked is kept; resume when there are points again.", results[0].Paused)
	require.Equal(t, fmt.Sprintf(thousandCounts, 900), results[0].Counts)
	require.Equal(t, int64(900), s.used(t))
	requireThousandRows(t, out, true)
}

// Two tabs do not check the same list at the same time.
func TestListInTwoTabs(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	s := start(t, "--dns", mxtest.Start(t, listZone))
	_, account := ledgertest.NewAccountOn(t, s.ledger, testAccount, ledger.Terms{Rate: ledgertest.Limit(1), Points: ledgertest.Unlimited()})
	results := browserLists(t, s, account, listTask{File: writeList(t, "people.csv", thousandRows()), Twice: true})
	require.Equal(t, "Another tab of this browser is checking the same list. Wait for it, or stop it there.", results[0].Problem)
}

// What is no list gets a sentence with its line. How long the page was blocked is logged.
func TestHostileListsInBrowser(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	s := start(t, "--dns", mxtest.Start(t, listZone))
	_, account := ledgertest.NewAccountOn(t, s.ledger, testAccount, ledger.Terms{})
	cases := []struct{ name, text, want string }{
		{"row.csv", "a,b\n" + strings.Repeat("x", 50<<20), "Line 2: This row is longer than 1 MiB"},
		{"quote.csv", "a,b\n1,\"c\n" + strings.Repeat("d,e\n", 5<<20), "Line 2: A quotation mark opens a cell here"},
		{"end.csv", "a,b\n1,2\n3,\"4\n", "Line 3: A quotation mark opens a cell here, and the file ends"},
		{"columns.csv", "a\n" + strings.Repeat(",", 1e6), "Line 2: This row has more than 1,000 columns"},
		{"nul.csv", "a,b\n1,2\n3,\x00\n", "Line 3: A NUL byte"},
		{"binary.xlsx", "PK\x03\x04\x14\x00\x00\x00", "Line 1: A NUL byte: this is not a text file."},
		{"latin.csv", "email,name\na@example.org,Andr\xe9\n", "Line 2: The file is not in UTF-8"},
		{"empty.csv", "", "The file is empty."},
	}
	var tasks []listTask
	for _, c := range cases {
		tasks = append(tasks, listTask{File: writeList(t, c.name, c.text)})
	}
	for n, result := range browserLists(t, s, account, tasks...) {
		require.Contains(t, result.Problem, cases[n].want, cases[n].name)
		t.Logf("%s: %.1f s, longest task %.0f ms, peak %d MB", cases[n].name, result.Seconds, result.Longest, result.Memory>>20)
	}
	require.Zero(t, s.used(t))
}

// A long list, to measure: ADDRSPEC_LONG_LIST is the number of its rows.
func TestLongListInBrowser(t *testing.T) {
	t.Parallel()
	rows, err := strconv.Atoi(os.Getenv("ADDRSPEC_LONG_LIST"))
	if err != nil {
		t.Skip("takes a minute: set ADDRSPEC_LONG_LIST=100000")
	}
	s := start(t, "--dns", mxtest.Start(t, listZone))
	_, account := ledgertest.NewAccountOn(t, s.ledger, testAccount, ledger.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()})
	var text strings.Builder
	text.WriteString("id,email,company,city\n")
	for n := range rows {
		fmt.Fprintf(&text, "%d,first%d.last@b%d.list.test,\"Company, %d\",City\n", n, n, n%500, n)
	}
	dir := t.TempDir()
	file := writeList(t, "long.csv", text.String())
	for _, offline := range []bool{true, false} {
		out := fmt.Sprintf("%s/%t.csv", dir, offline)
		results := browserLists(t, s, account, listTask{File: file, Out: out, Offline: offline, Timeout: 540_000})
		t.Logf("offline %t: %+v", offline, results[0])
		require.Len(t, readList(t, out), rows)
	}
	require.Equal(t, int64(rows), s.used(t))
}
