package feed

// Reason classifies why lists were refused. It is the label of a metric, so the
// set is fixed.
type Reason string

// The reasons. The last three are for programs that fetch and install lists.
const (
	BadSignature Reason = "signature" // wrong, or not a signature
	OtherKey     Reason = "key"       // made with another key
	Damaged      Reason = "damaged"   // not the bytes that were signed
	OtherFormat  Reason = "format"    // a blob of another version of the format
	TooLarge     Reason = "size"
	Older        Reason = "older"
	Expired      Reason = "expired"
	NotYet       Reason = "future" // signed in the future
	Fetching     Reason = "fetch"
	Storing      Reason = "store"
	Installing   Reason = "install"
)

// Reasons has every reason, for programs that count them.
var Reasons = []Reason{BadSignature, OtherKey, Damaged, OtherFormat, TooLarge, Older, Expired, NotYet, Fetching, Storing, Installing}

// Error is a refusal: a sentence that says what is wrong and what to do. It
// contains no key.
type Error struct {
	Reason Reason
	Text   string
}

func (e *Error) Error() string { return e.Text }

func refuse(reason Reason, text string) error { return &Error{reason, text} }
