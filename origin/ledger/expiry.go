package ledger

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxExpiryDays is the most days of ParseExpiry, a century.
const maxExpiryDays = 36_500

// ParseExpiry parses when a key expires: after a number of days, such as 90d, or
// at the beginning of a day (UTC), such as 2027-01-31. It returns the zero time
// for "" and "never".
func ParseExpiry(text string, now time.Time) (time.Time, error) {
	if text == "" || text == "never" {
		return time.Time{}, nil
	}
	if number, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.Atoi(number)
		if err != nil || strconv.Itoa(days) != number || days < 1 || days > maxExpiryDays {
			return time.Time{}, fmt.Errorf("the expiry %q must be 1d to %dd", text, maxExpiryDays)
		}
		return now.AddDate(0, 0, days), nil
	}
	day, err := ParseDay(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("the expiry %q is neither a number of days such as 90d nor a day such as 2027-01-31", text)
	}
	return day.Time(), nil
}
