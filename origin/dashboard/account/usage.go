package account

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/words"
)

const (
	maxUsageDays  = 400 // of one table or file
	usagePageRows = 50
	usageKeys     = 100 // in the list to choose from: those with the most points
)

// UsageView is the page Usage.
type UsageView struct {
	First string         `json:"first"`
	Last  string         `json:"last"`
	Key   int64          `json:"key,omitempty"`
	Keys  []UsageKeyView `json:"keys"` // that used points in these days
	Rows  []usageRowView `json:"rows"`
	Total usageNumbers   `json:"total"`
	Count int64          `json:"count"`          // rows in all
	Next  string         `json:"next,omitempty"` // the next page
	CSV   string         `json:"csv"`
	Paged bool           `json:"-"` // this is not the first page
	Heads []string       `json:"-"`
}

type UsageKeyView struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

type usageRowView struct {
	Day string       `json:"day"`
	Key UsageKeyView `json:"key"`
	usageNumbers
}

type usageNumbers struct{ book.Tally }

// usageColumns names the columns in a file, in the order of List, and usageHeads in the table.
var (
	usageColumns = []string{"points", "requests", "errors", "valid", "invalid",
		"disposable", "public", "relay", "role", "gibberish", "typo", "lookup_errors"}
	usageHeads = []string{"Points", "Requests", "Errors", "Valid", "Not valid",
		"Disposable", "Public", "Relay", "Role", "Gibberish", "Typo", "Lookup errors"}
)

// List returns the numbers in the order of the columns.
func (n *usageNumbers) List() []int64 {
	f := n.Found
	return []int64{n.Points, n.Requests, n.Errors, f.Valid, f.Invalid,
		f.Disposable, f.Public, f.Relay, f.Role, f.Gibberish, f.Typo, f.LookupErrors}
}

// usagePage is the page Usage. Its form is shown again if the days are refused.
func usagePage(v *page.Visit) (any, error) {
	q, err := usageQuery(v)
	given := v.Request.URL.Query()
	if err != nil {
		p := page.ProblemOf(err)
		if !p.Input || v.JSON {
			return nil, err
		}
		view := &UsageView{First: given.Get("first"), Last: given.Get("last"), Heads: usageHeads}
		view.Key, _ = strconv.ParseInt(given.Get("key"), 10, 64) // anything else is all keys
		err := addUsageKeys(v, view, book.UsageQuery{Account: v.User.Account, Key: view.Key})
		return &page.Outcome{Data: view, Refused: p}, err
	}
	// The position after which the page begins is a day and a key, such as 2026-11-20.17.
	var after book.UsagePosition
	day, key, _ := strings.Cut(given.Get("after"), ".")
	if after.Day, err = book.ParseDay(day); err == nil { // anything else is the first page
		after.Key, _ = strconv.ParseInt(key, 10, 64)
	}
	parameters := url.Values{"first": {q.First.String()}, "last": {q.Last.String()}}
	if q.Key != 0 {
		parameters.Set("key", strconv.FormatInt(q.Key, 10))
	}
	view := &UsageView{First: q.First.String(), Last: q.Last.String(), Key: q.Key, Rows: []usageRowView{},
		CSV: "/dashboard/usage.csv?" + parameters.Encode(), Paged: after != book.UsagePosition{}, Heads: usageHeads}
	if err := addUsageKeys(v, view, q); err != nil {
		return nil, err
	}
	view.Total.Tally, view.Count, err = v.Ledger.UsageSum(v.Context(), q)
	if err != nil {
		return nil, err
	}
	rows, err := v.Ledger.UsageRows(v.Context(), q, after, usagePageRows+1)
	if len(rows) > usagePageRows {
		rows = rows[:usagePageRows]
		last := rows[usagePageRows-1].Position()
		parameters.Set("after", fmt.Sprintf("%s.%d", last.Day, last.Key))
		view.Next = "/dashboard/usage?" + parameters.Encode()
	}
	for _, r := range rows {
		view.Rows = append(view.Rows, usageRowView{r.Day.String(), viewOfUsedKey(r.Key), usageNumbers{r.Tally}})
	}
	return view, err
}

// addUsageKeys adds the keys to choose from. The one that is chosen is among them
// even if it used nothing.
func addUsageKeys(v *page.Visit, view *UsageView, q book.UsageQuery) error {
	list, err := v.Ledger.UsedKeys(v.Context(), q, usageKeys)
	if err != nil {
		return err
	}
	chosen := func(k book.UsedKey) bool { return k.ID == q.Key }
	if q.Key != 0 && !slices.ContainsFunc(list, chosen) {
		var k book.Key
		k, err = v.Ledger.Key(v.Context(), v.User.Account, q.Key)
		list = append(list, book.UsedKey{ID: k.ID, Name: k.Name, Dashboard: k.Dashboard, Test: k.Test,
			Revoked: !k.Revoked.IsZero()})
	}
	view.Keys = []UsageKeyView{}
	for _, k := range list {
		view.Keys = append(view.Keys, viewOfUsedKey(k))
	}
	return err
}

func viewOfUsedKey(k book.UsedKey) UsageKeyView {
	view := UsageKeyView{k.ID, k.Name, "active"}
	switch {
	case k.Dashboard:
		view.Status = "dashboard"
	case k.Revoked:
		view.Status = "revoked"
	case k.Test:
		view.Status = "test"
	}
	return view
}

// usageQuery reads the parameters first, last and key. The default is this month.
// A key of another account is not found.
func usageQuery(v *page.Visit) (q book.UsageQuery, err error) {
	now, err := v.Ledger.Now(v.Context())
	if err != nil {
		return q, err
	}
	given := v.Request.URL.Query()
	q = book.UsageQuery{Account: v.User.Account, First: book.DayOf(book.MonthOf(now).Begin()), Last: book.DayOf(now)}
	for _, name := range []string{"first", "last"} {
		text, day := given.Get(name), &q.First
		if name == "last" {
			day = &q.Last
		}
		if text == "" {
			continue
		}
		if *day, err = book.ParseDay(text); err != nil {
			return q, page.InputProblem(name, "The "+name+" day must be a date such as 2026-11-20.")
		}
	}
	switch {
	case q.First > q.Last:
		return q, page.InputProblem("first", "The first day is after the last one.")
	case q.Last-q.First >= maxUsageDays:
		return q, page.InputProblem("first", fmt.Sprintf("These are %s; at most %d are shown at a time.",
			words.Count(q.Last-q.First+1, "day"), maxUsageDays))
	}
	if key := given.Get("key"); key != "" && key != "0" {
		if q.Key, err = strconv.ParseInt(key, 10, 64); err != nil {
			return q, page.ErrNotFound
		}
		_, err = v.Ledger.Key(v.Context(), v.User.Account, q.Key)
	}
	return q, err
}

const (
	csvPageRows  = 1000
	csvWriteTime = 30 * time.Second // to send a page of rows
	csvTime      = 10 * time.Minute // to send all
)

// usageCSV is a file of the rows of the page Usage, which are sent as they are read.
func usageCSV(v *page.Visit) (any, error) {
	q, err := usageQuery(v)
	if err != nil {
		return nil, err
	}
	if err := v.Hold(v.Limits.Long, "exports of "+v.Account(), page.MaxLongEach, page.ErrBusyAccount); err != nil {
		return nil, err
	}
	v.Keep()
	return &page.Outcome{Stream: func() {
		h := v.Writer.Header()
		h.Set("Content-Type", "text/csv; charset=utf-8")
		h.Set("Content-Disposition",
			fmt.Sprintf(`attachment; filename="addrspec-usage-%s-to-%s.csv"`, q.First, q.Last))
		h.Set("Cache-Control", "no-store")
		out, end := csv.NewWriter(v.Writer), time.Now().Add(csvTime)
		out.UseCRLF = true // RFC 4180
		_ = out.Write(append([]string{"day", "key_id", "key", "key_status"}, usageColumns...))
		for after := (book.UsagePosition{}); ; {
			rows, err := v.Ledger.UsageRows(v.Whole, q, after, csvPageRows)
			if err != nil {
				v.Log.Error("an export of usage ended early", "error", err.Error())
				panic(http.ErrAbortHandler) // so that nobody takes the part for the whole
			}
			deadline := time.Now().Add(csvWriteTime)
			if deadline.After(end) {
				deadline = end
			}
			_ = http.NewResponseController(v.Writer).SetWriteDeadline(deadline) // a test's writer has none
			for _, r := range rows {
				key := viewOfUsedKey(r.Key)
				row := []string{r.Day.String(), strconv.FormatInt(key.ID, 10), output.Formula(key.Name), key.Status}
				for _, n := range (&usageNumbers{r.Tally}).List() {
					row = append(row, strconv.FormatInt(n, 10))
				}
				_ = out.Write(row)
			}
			out.Flush()
			if out.Error() != nil || len(rows) < csvPageRows {
				return // complete, or the client has disconnected
			}
			after = rows[len(rows)-1].Position()
		}
	}}, nil
}
