package dashboard

import (
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// termsForm has the terms of a key as the fields of a form.
type termsForm struct{ Expires, Budget, Rate, Origins string }

// termsOfKey returns the terms of a key that exists.
func termsOfKey(k keyView) termsForm {
	t := termsForm{Budget: limitField(k.Budget), Rate: limitField(k.Rate), Origins: strings.Join(k.Origins, "\n")}
	if !k.Expires.IsZero() {
		t.Expires = k.Expires.UTC().Format(time.DateOnly)
	}
	return t
}

// termsOf returns the terms of a form that is shown again.
func termsOf(f *frame) termsForm {
	return termsForm{f.Value("expires"), f.Value("budget"), f.Value("rate"), f.Value("origins")}
}

func limitField(l *ledger.Limit) string {
	if l == nil {
		return ""
	}
	return l.String()
}
