package dashboard

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

const (
	maxCSVRows   = 1_000_000
	csvPageRows  = 1000
	csvWriteTime = 30 * time.Second // to send a page of rows
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
	ctx, p := v.move(v.exports, 0)
	if p != nil {
		d.refuse(v, p)
		return
	}
	v.sendCSV(ctx, q)
}

// checkRows refuses a file that would be too long, before it begins.
func (v *visit) checkRows(q ledger.UsageQuery) error {
	_, rows, err := v.Ledger.UsageSum(v.r.Context(), q)
	if err != nil {
		return err
	}
	return checkCSVRows(rows)
}

func checkCSVRows(rows int64) error {
	if rows > maxCSVRows {
		return inputProblem("first", fmt.Sprintf("These are %s rows; a file has at most %s. Choose fewer days, or one key.", formatNumber(rows), formatNumber(maxCSVRows)))
	}
	return nil
}

func (v *visit) sendCSV(ctx context.Context, q ledger.UsageQuery) {
	h := v.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="addrspec-usage-%s-to-%s.csv"`, q.First, q.Last))
	h.Set("Cache-Control", "no-store")
	out := csv.NewWriter(v.w)
	out.UseCRLF = true // RFC 4180
	_ = out.Write(append([]string{"day", "key_id", "key", "key_status"}, usageColumns...))
	for after := (ledger.UsagePosition{}); ; {
		rows, err := v.Ledger.UsageRows(ctx, q, after, csvPageRows)
		if err != nil {
			v.Log.Error("an export of usage ended early", "error", err.Error())
			panic(http.ErrAbortHandler) // so that nobody takes the part for the whole
		}
		_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(csvWriteTime)) // a test's writer has none
		for _, row := range rows {
			_ = out.Write(csvRow(row))
		}
		if out.Flush(); out.Error() != nil || len(rows) < csvPageRows {
			return // complete, or the client has disconnected
		}
		after = rows[len(rows)-1].Position()
	}
}

func csvRow(r ledger.UsageRow) []string {
	key := viewOfUsedKey(r.Key)
	row := []string{r.Day.String(), strconv.FormatInt(key.ID, 10), plainCell(key.Name), key.Status}
	numbers := numbersOf(r.Tally)
	for _, n := range numbers.List() {
		row = append(row, strconv.FormatInt(n, 10))
	}
	return row
}

// plainCell returns text that a spreadsheet does not take for a formula (OWASP, CSV
// Injection).
func plainCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
