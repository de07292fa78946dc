package dashboard

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

const (
	maxUsageDays  = 400 // of one table or file
	usagePageRows = 50
	usageKeys     = 100 // in the list to choose from: those with the most points
)

// usageView is the page Usage.
type usageView struct {
	First string         `json:"first"`
	Last  string         `json:"last"`
	Key   int64          `json:"key,omitempty"`
	Keys  []usageKeyView `json:"keys"` // that used points in these days
	Rows  []usageRowView `json:"rows"`
	Total usageNumbers   `json:"total"`
	Count int64          `json:"count"`          // rows in all
	Next  string         `json:"next,omitempty"` // the next page
	CSV   string         `json:"csv"`
	Paged bool           `json:"-"` // this is not the first page
}

type usageKeyView struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// usageRowView is what one key did on one day.
type usageRowView struct {
	Day string       `json:"day"`
	Key usageKeyView `json:"key"`
	usageNumbers
}

// usageNumbers are the columns of a row.
type usageNumbers struct {
	Points       int64 `json:"points"`
	Requests     int64 `json:"requests"`
	Errors       int64 `json:"errors"` // requests without a 2xx
	Valid        int64 `json:"valid"`
	Invalid      int64 `json:"invalid"`
	Disposable   int64 `json:"disposable"`
	Public       int64 `json:"public"`
	Relay        int64 `json:"relay"`
	Role         int64 `json:"role"`
	Gibberish    int64 `json:"gibberish"`
	Typo         int64 `json:"typo"`
	LookupErrors int64 `json:"lookup_errors"`
}

// usageColumns names the columns, in the order of list.
var usageColumns = []string{"points", "requests", "errors", "valid", "invalid", "disposable", "public", "relay", "role", "gibberish", "typo", "lookup_errors"}

// usageHeads are their names in the table.
var usageHeads = []string{"Points", "Requests", "Errors", "Valid", "Not valid", "Disposable", "Public", "Relay", "Role", "Gibberish", "Typo", "Lookup errors"}

// List returns the numbers in the order of the columns.
func (n *usageNumbers) List() []int64 {
	return []int64{n.Points, n.Requests, n.Errors, n.Valid, n.Invalid, n.Disposable, n.Public, n.Relay, n.Role, n.Gibberish, n.Typo, n.LookupErrors}
}

func numbersOf(t book.Tally) usageNumbers {
	f := t.Found
	return usageNumbers{t.Points, t.Requests, t.Errors, f.Valid, f.Invalid, f.Disposable, f.Public, f.Relay, f.Role, f.Gibberish, f.Typo, f.LookupErrors}
}

// usage is the page Usage. Its form is shown again if the days are refused.
func (d *Dashboard) usage(v *visit) (any, error) {
	q, err := v.usageQuery()
	if p := problemOf(err); err != nil && p.input && !v.json {
		return v.refusedUsage(p)
	}
	if err != nil {
		return nil, err
	}
	after, err := parsePosition(v.r.URL.Query().Get("after"))
	if err != nil {
		return nil, err
	}
	view := &usageView{First: q.First.String(), Last: q.Last.String(), Key: q.Key, CSV: "/dashboard/usage.csv?" + usageParameters(q).Encode(), Paged: after != book.UsagePosition{}}
	if err := v.addUsageKeys(view, q); err != nil {
		return nil, err
	}
	return view, v.addUsageRows(view, q, after)
}

// refusedUsage is the page with the days and the key that were given, and why they
// are refused.
func (v *visit) refusedUsage(p *problem) (any, error) {
	given := v.r.URL.Query()
	view := &usageView{First: given.Get("first"), Last: given.Get("last")}
	view.Key, _ = strconv.ParseInt(given.Get("key"), 10, 64) // anything else is all keys
	err := v.addUsageKeys(view, book.UsageQuery{Account: v.user.Account, Key: view.Key})
	return &outcome{data: view, refused: p}, err
}

func (v *visit) addUsageRows(view *usageView, q book.UsageQuery, after book.UsagePosition) error {
	sum, count, err := v.Ledger.UsageSum(v.r.Context(), q)
	if err != nil {
		return err
	}
	view.Total, view.Count = numbersOf(sum), count
	rows, err := v.Ledger.UsageRows(v.r.Context(), q, after, usagePageRows+1)
	if len(rows) > usagePageRows {
		rows = rows[:usagePageRows]
		next := usageParameters(q)
		next.Set("after", formatPosition(rows[usagePageRows-1].Position()))
		view.Next = "/dashboard/usage?" + next.Encode()
	}
	view.Rows = make([]usageRowView, len(rows))
	for i, r := range rows {
		view.Rows[i] = usageRowView{r.Day.String(), viewOfUsedKey(r.Key), numbersOf(r.Tally)}
	}
	return err
}

// addUsageKeys adds the keys to choose from. The one that is chosen is among them
// even if it used nothing.
func (v *visit) addUsageKeys(view *usageView, q book.UsageQuery) error {
	list, err := v.Ledger.UsedKeys(v.r.Context(), q, usageKeys)
	view.Keys = []usageKeyView{}
	chosen := q.Key == 0
	for _, k := range list {
		view.Keys = append(view.Keys, viewOfUsedKey(k))
		chosen = chosen || k.ID == q.Key
	}
	if err != nil || chosen {
		return err
	}
	k, err := v.Ledger.Key(v.r.Context(), v.user.Account, q.Key)
	view.Keys = append(view.Keys, viewOfUsedKey(book.UsedKey{ID: k.ID, Name: k.Name, Dashboard: k.Dashboard, Test: k.Test, Revoked: !k.Revoked.IsZero()}))
	return err
}

func viewOfUsedKey(k book.UsedKey) usageKeyView {
	view := usageKeyView{k.ID, k.Name, "active"}
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
func (v *visit) usageQuery() (q book.UsageQuery, err error) {
	now, err := v.Ledger.Now(v.r.Context())
	if err != nil {
		return q, err
	}
	p := v.r.URL.Query()
	q = book.UsageQuery{Account: v.user.Account, First: firstOfMonth(now), Last: book.DayOf(now)}
	if q.First, err = dayParameter(p, "first", q.First); err != nil {
		return q, err
	}
	if q.Last, err = dayParameter(p, "last", q.Last); err != nil {
		return q, err
	}
	switch {
	case q.First > q.Last:
		return q, inputProblem("first", "The first day is after the last one.")
	case q.Last-q.First >= maxUsageDays:
		return q, inputProblem("first", fmt.Sprintf("These are %d days; at most %d are shown at a time.", q.Last-q.First+1, maxUsageDays))
	}
	return v.withKey(q, p.Get("key"))
}

func (v *visit) withKey(q book.UsageQuery, text string) (book.UsageQuery, error) {
	if text == "" || text == "0" {
		return q, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return q, errNotFound
	}
	q.Key = id
	_, err = v.Ledger.Key(v.r.Context(), v.user.Account, id)
	return q, err
}

func firstOfMonth(t time.Time) book.Day {
	t = t.UTC()
	return book.DayOf(time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC))
}

func dayParameter(p url.Values, name string, otherwise book.Day) (book.Day, error) {
	text := p.Get(name)
	if text == "" {
		return otherwise, nil
	}
	day, err := book.ParseDay(text)
	if err != nil {
		return 0, inputProblem(name, "The "+name+" day must be a date such as 2026-11-20.")
	}
	return day, nil
}

// usageParameters returns the parameters that usageQuery reads.
func usageParameters(q book.UsageQuery) url.Values {
	p := url.Values{"first": {q.First.String()}, "last": {q.Last.String()}}
	if q.Key != 0 {
		p.Set("key", strconv.FormatInt(q.Key, 10))
	}
	return p
}

// A position is written as day and key, such as 2026-11-20.17.
func formatPosition(p book.UsagePosition) string {
	return p.Day.String() + "." + strconv.FormatInt(p.Key, 10)
}

func parsePosition(text string) (p book.UsagePosition, err error) {
	if text == "" {
		return p, nil
	}
	day, key, _ := strings.Cut(text, ".")
	if p.Day, err = book.ParseDay(day); err == nil {
		p.Key, err = strconv.ParseInt(key, 10, 64)
	}
	if err != nil {
		return p, inputProblem("after", "The parameter after must be that of a link to the next page.")
	}
	return p, nil
}

const (
	maxCSVRows   = 1_000_000
	csvPageRows  = 1000
	csvWriteTime = 30 * time.Second // to send a page of rows
	csvTime      = 10 * time.Minute // to send all
)

// usageCSV is the handler of /dashboard/usage.csv: the rows of the page Usage, sent
// as they are read.
func (d *Dashboard) usageCSV(w http.ResponseWriter, r *http.Request) {
	v, err := d.visit(w, r, route{access: signedIn})
	if err != nil {
		d.refuse(v, err)
		return
	}
	q, err := v.usageQuery()
	if err == nil {
		err = v.checkRows(q)
	}
	if err != nil {
		d.refuse(v, err)
		return
	}
	ctx, p := v.move(v.exports, v.account(), 0)
	if p != nil {
		d.refuse(v, p)
		return
	}
	placeOf(v.r.Context()).stay()
	v.sendCSV(ctx, q)
}

// checkRows refuses a file that would be too long, before it begins.
func (v *visit) checkRows(q book.UsageQuery) error {
	_, rows, err := v.Ledger.UsageSum(v.r.Context(), q)
	if err != nil {
		return err
	}
	return checkCSVRows(rows)
}

func checkCSVRows(rows int64) error {
	if rows > maxCSVRows {
		return inputProblem("first", fmt.Sprintf("These are %s; a file has at most %s. Choose fewer days, or one key.", count(rows, "row"), humanize.Comma(maxCSVRows)))
	}
	return nil
}

func (v *visit) sendCSV(ctx context.Context, q book.UsageQuery) {
	h := v.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="addrspec-usage-%s-to-%s.csv"`, q.First, q.Last))
	h.Set("Cache-Control", "no-store")
	out, end := csv.NewWriter(v.w), time.Now().Add(csvTime)
	out.UseCRLF = true // RFC 4180
	_ = out.Write(append([]string{"day", "key_id", "key", "key_status"}, usageColumns...))
	for after := (book.UsagePosition{}); ; {
		rows, err := v.Ledger.UsageRows(ctx, q, after, csvPageRows)
		if err != nil {
			v.Log.Error("an export of usage ended early", "error", err.Error())
			panic(http.ErrAbortHandler) // so that nobody takes the part for the whole
		}
		_ = http.NewResponseController(v.w).SetWriteDeadline(earlier(time.Now().Add(csvWriteTime), end)) // a test's writer has none
		for _, row := range rows {
			_ = out.Write(csvRow(row))
		}
		if out.Flush(); out.Error() != nil || len(rows) < csvPageRows {
			return // complete, or the client has disconnected
		}
		after = rows[len(rows)-1].Position()
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func csvRow(r book.UsageRow) []string {
	key := viewOfUsedKey(r.Key)
	row := []string{r.Day.String(), strconv.FormatInt(key.ID, 10), output.Formula(key.Name), key.Status}
	numbers := numbersOf(r.Tally)
	for _, n := range numbers.List() {
		row = append(row, strconv.FormatInt(n, 10))
	}
	return row
}
