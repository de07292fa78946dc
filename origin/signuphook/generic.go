package signuphook

// generic is the format of this service, for systems without a hook format of their
// own. The request is
//
//	{"email": "jane@example.org", "language": "de"}
//
// language, which is optional, is a language tag or a list as in Accept-Language; it
// selects the message. The answer is
//
//	{"decision": "deny", "reasons": ["disposable"], "flags": [], "message": "...", "suggestion": null}
type generic struct{}

type genericRequest struct {
	Email    *string `json:"email"`
	Language string  `json:"language"`
}

type genericAnswer struct {
	Decision   Decision `json:"decision"`
	Reasons    []Reason `json:"reasons"` // null cannot occur: a nil slice is [] in go-json-experiment
	Flags      []Reason `json:"flags"`
	Message    *string  `json:"message"`
	Suggestion *string  `json:"suggestion"`
}

func (generic) read(body []byte, id string) (Call, string) {
	var r genericRequest
	if !decode(body, &r) || r.Email == nil {
		return Call{}, `The body must be a JSON object such as {"email": "jane@example.org", "language": "en"}, with each member once.`
	}
	return Call{ID: id, Email: *r.Email, language: r.Language}, ""
}

func (generic) answer(v *Verdict, message string) []byte {
	return encode(genericAnswer{v.Decision, v.Reasons, v.Flags, orNull(message), orNull(v.Suggestion)})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
