package result

// Tones of verdicts. The dashboard has style classes and the command check colours
// for them; each has words beside its colour.
const (
	ToneGood = "good"
	ToneWarn = "warn"
	ToneBad  = "bad"
)

// Unchecked is the verdict of an address that could not be checked. Its tone is
// ToneWarn.
const Unchecked = "Could not be checked"

// Verdict returns the tone and the words for an address: what matters most to
// somebody who wants to send mail to it. lookedUp is whether mx is a fact.
func (r *Result) Verdict(lookedUp bool) (tone, words string) {
	switch {
	case !r.Valid:
		return ToneBad, "Not a valid address"
	case r.Typo:
		return ToneWarn, "Probably mistyped"
	case lookedUp && !r.MX:
		return ToneBad, "No MX record"
	case r.Disposable:
		return ToneBad, "Throw-away mailbox"
	case r.Gibberish:
		return ToneWarn, "Looks random"
	case r.Role != "":
		return ToneWarn, "Reaches a role, not one person"
	}
	return ToneGood, "Nothing wrong found"
}
