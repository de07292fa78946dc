package signuphook

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/language"

	"github.com/addrspec/addrspec/wasm/host"
)

// A Call is the content of a request.
type Call struct {
	ID    string // identifies the sign-up: the same for every attempt; "" if each request is one of its own
	Email string // "" if the user has none
	// Canonical is the mailbox's identity under its provider's rules; "" if it is not known.
	Canonical string
	language  string // asked for; may be ""
}

// A format is how a sign-up system asks, and what it gets.
type format interface {
	// read reads a body whose signature is valid. It returns a sentence for the caller, or "".
	read(body []byte, id string) (call Call, wrong string)
	// response returns the body of a 200, whose strings are UTF-8.
	response(v *Verdict, c *Call, message string) any
}

// A seat is a format, and what else its callers need: how they prove who they are, and how long they wait.
type seat struct {
	format
	bearer           bool       // the request carries the secret, and nothing signs it; it has no ID
	flags            host.Flags // of the check
	timeout, longest time.Duration
}

// The default timeouts leave time for the charge, which may take a second: Supabase waits 5 s for a hook
// and 3 s for the seat of its mailer.
var seats = map[string]seat{
	"generic":  {format: generic{}, flags: host.Details, timeout: 3 * time.Second, longest: 30 * time.Second},
	"supabase": {format: supabase{}, timeout: 3 * time.Second, longest: 30 * time.Second},
	"supabase-mailer": {format: supabaseMailer{}, bearer: true, timeout: 1500 * time.Millisecond,
		longest: 2500 * time.Millisecond},
}

// Read reads the body of a request whose signature is valid; id is its webhook-id. It
// returns a sentence that says what is wrong with the body, or "".
func (h *Hook) Read(body []byte, id string) (call Call, wrong string) {
	return h.seat.read(body, id)
}

// Response returns the body of the response.
func (h *Hook) Response(v Verdict, c Call) []byte {
	text, _ := json.Marshal(h.seat.response(&v, &c, h.messages.message(&v, c.language))) // UTF-8: cannot fail
	return text
}

// decode decodes a body: an object in UTF-8 without members that occur twice. Members
// that v does not have are ignored.
func decode(body []byte, v any) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) && json.Unmarshal(body, v) == nil
}

// generic is the format of this service, for systems without a hook format of their
// own. The request is
//
//	{"email": "jane@example.org", "language": "de"}
//
// language, which is optional, is a language tag or a list as in Accept-Language; it
// selects the message. The response is
//
//	{"decision": "deny", "reasons": ["disposable"], "flags": [], "message": "...", "suggestion": null,
//	 "canonical": "jane@example.org"}
type generic struct{}

func (generic) read(body []byte, id string) (Call, string) {
	var r struct {
		Email    *string `json:"email"`
		Language string  `json:"language"`
	}
	if !decode(body, &r) || r.Email == nil {
		return Call{}, `The body must be a JSON object such as {"email": "jane@example.org", "language": "en"}, ` +
			`with each member once.`
	}
	return Call{ID: id, Email: *r.Email, language: r.Language}, ""
}

func (generic) response(v *Verdict, c *Call, message string) any {
	return struct {
		Decision   Decision `json:"decision"`
		Reasons    []Reason `json:"reasons"` // null cannot occur: a nil slice is [] in go-json-experiment
		Flags      []Reason `json:"flags"`
		Message    *string  `json:"message"`
		Suggestion *string  `json:"suggestion"`
		Canonical  *string  `json:"canonical"`
	}{v.Decision(), v.reasons(Deny), v.reasons(Review), orNull(message), orNull(v.Suggestion), orNull(c.Canonical)}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// supabase is the Auth hook "Before User Created" of Supabase
// (supabase.com/docs/guides/auth/auth-hooks/before-user-created-hook).
//
// A sign-up is denied by 200 with an error object. Supabase Auth turns any other
// status into an error 500 for the user, whatever the body says (supabase/auth,
// internal/hooks/hookshttp; issue 2235 there).
//
// Supabase Auth sends a new webhook-id for each attempt at the same sign-up, but the
// same body, whose metadata.uuid identifies it.
type supabase struct{}

func (supabase) read(body []byte, id string) (Call, string) {
	var r struct {
		Metadata struct {
			UUID string `json:"uuid"`
			Name string `json:"name"`
		} `json:"metadata"`
		User *struct {
			Email    string `json:"email"`
			Metadata struct {
				Language any `json:"language"`
				Locale   any `json:"locale"`
			} `json:"user_metadata"`
		} `json:"user"`
	}
	if !decode(body, &r) || r.User == nil || r.Metadata.Name != "before-user-created" {
		return Call{}, `The body is not that of the Supabase Auth hook "Before User Created": ` +
			`select this hook in Supabase, or another format for it in the file of --hooks.`
	}
	c := Call{ID: id, Email: r.User.Email}
	if validID.MatchString(r.Metadata.UUID) {
		c.ID = r.Metadata.UUID
	}
	// The two names that client code uses; users write this object themselves.
	asked, _ := r.User.Metadata.Language.(string)
	locale, _ := r.User.Metadata.Locale.(string)
	c.language = cmp.Or(asked, locale)
	return c, ""
}

func (supabase) response(v *Verdict, _ *Call, message string) any {
	if v.Decision() == Allow {
		return struct{}{}
	}
	return map[string]any{"error": struct {
		Code    int    `json:"http_code"`
		Message string `json:"message"`
	}{http.StatusForbidden, message}}
}

// supabaseMailer is what Supabase Auth asks before each mail (supabase/auth, internal/mailer/validateclient).
// It reads 32 bytes of the response, and takes any status but 2xx, and silence for 3 s, for a valid address.
//
// A request is as in the format generic, without a language. It has no ID, and is not repeated: each is about
// a mail of its own.
type supabaseMailer struct{ generic }

func (supabaseMailer) response(v *Verdict, _ *Call, _ string) any {
	return struct {
		Valid bool `json:"valid"`
	}{v.Decision() == Allow}
}

// defaultMessages are the English messages of reasons that deny, for the person who signs up.
var defaultMessages = map[Reason]string{
	NoEmail:            "Please sign up with an email address.",
	Invalid:            "This is not a valid email address. Please check it.",
	Address:            "Please use another email address.",
	Domain:             "Please use another email address.",
	Exchange:           "Please use another email address.",
	"disposable":       "Please use a permanent email address.",
	"no_mx":            "This email address may not receive mail. Please check its domain.",
	"no_mail":          "This email address cannot receive mail. Please check its domain.",
	"typo":             "This email address may be mistyped. Please check its domain.",
	"gibberish":        "Please use your usual email address.",
	"relay":            "Please use your own email address, not a forwarding one.",
	"role":             "Please use a personal email address.",
	"public":           "Please use the email address of your organization.",
	"alias":            "Please use your email address without a tag.",
	"non_ascii":        "Please use an email address of English letters and digits.",
	"quoted":           "Please use an email address without quotes.",
	"comment":          "Please write the email address without a comment.",
	"literal":          "Please use an email address with a domain name.",
	"single_label":     "Please use an email address at a full domain name.",
	"unknown_tld":      "The end of this email address is unknown. Please check its domain.",
	"special_use":      "This email address is only an example. Please use your own.",
	"generated":        "Please use your usual email address.",
	"odd_character":    "This email address has an unusual character. Please check it.",
	"looks_disposable": "Please use a permanent email address.",
	"mailbox_form":     "This email address may be mistyped. Please check the part before the @.",
	Unchecked:          "Your email address could not be checked. Please try again shortly.",
}

const (
	maxMessage  = 500 // bytes
	maxLanguage = 256 // bytes of what a request asks for
)

// messages are the messages of a hook by language. x/text/language finds the language
// that fits best (BCP 47, RFC 4647), such as "pt-BR" for somebody who reads "pt".
type messages struct {
	texts   []map[Reason]string // the default language first
	matcher language.Matcher
}

// readMessages checks the messages. A message must not be empty: Supabase ignores an error
// without one, and would allow the sign-up. Languages are sorted, so that which one fits best
// does not change from start to start.
func readMessages(first string, given map[string]map[Reason]string) (m messages, err error) {
	names := slices.Sorted(maps.Keys(given))
	names = append([]string{first}, slices.DeleteFunc(names, func(name string) bool { return name == first })...)
	var tags []language.Tag
	for _, name := range names {
		tag, err := language.Parse(name)
		if err != nil {
			return m, fmt.Errorf(`%.40q in "messages" or "language" is not a language tag, `+
				`such as "en" or "pt-BR"`, name)
		}
		for reason, text := range given[name] {
			if defaultMessages[reason] == "" {
				return m, fmt.Errorf(`"messages", %q: %.40q is not a reason with a message; these are %v`,
					name, string(reason), slices.Sorted(maps.Keys(defaultMessages)))
			}
			if strings.TrimSpace(text) == "" || len(text) > maxMessage ||
				strings.ContainsFunc(text, unicode.IsControl) {
				return m, fmt.Errorf(`"messages", %q, %q must have 1 to %d bytes and no control characters`,
					name, reason, maxMessage)
			}
		}
		tags, m.texts = append(tags, tag), append(m.texts, given[name])
	}
	m.matcher = language.NewMatcher(tags)
	return m, nil
}

// message returns the message of a reason that denies, in the language that fits best. asked is a
// language tag or a list as in Accept-Language; if it is neither, the language is the hook's.
func (m *messages) message(v *Verdict, asked string) string {
	if v.Decision() != Deny {
		return ""
	}
	at := 0
	if len(asked) <= maxLanguage {
		if tags, _, err := language.ParseAcceptLanguage(asked); err == nil && len(tags) > 0 {
			_, at, _ = m.matcher.Match(tags...)
		}
	}
	for _, texts := range []map[Reason]string{m.texts[at], m.texts[0], defaultMessages} {
		if text := texts[v.reason]; text != "" {
			return text
		}
	}
	return defaultMessages[Domain]
}
