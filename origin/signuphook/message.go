package signuphook

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
)

// defaultMessages are the English messages of reasons that deny, for the person who
// signs up.
var defaultMessages = map[Reason]string{
	NoEmail:    "Please sign up with an email address.",
	Invalid:    "This is not a valid email address. Please check it.",
	Disposable: "Please use a permanent email address.",
	NoMX:       "This email address cannot receive mail. Please check its domain.",
	Typo:       "This email address may be mistyped. Please check its domain.",
	Gibberish:  "Please use your usual email address.",
	Relay:      "Please use your own email address, not a forwarding one.",
	Role:       "Please use a personal email address.",
	Public:     "Please use the email address of your organization.",
	Alias:      "Please use your email address without a tag.",
	Unchecked:  "Your email address could not be checked. Please try again shortly.",
}

// Bounds of messages.
const (
	maxLanguages = 100
	maxMessage   = 500 // bytes
	maxLanguage  = 256 // bytes of what a request asks for
)

// messages are the messages of a hook by language. x/text/language finds the language
// that fits best (BCP 47, RFC 4647), such as "pt-BR" for somebody who reads "pt".
type messages struct {
	texts   []map[Reason]string // the default language first
	matcher language.Matcher
}

// readMessages reads the messages. Languages are sorted, so that which one fits best
// does not change from start to start.
func (e *entry) readMessages(h *Hook, _ string) error {
	if len(e.Messages) > maxLanguages {
		return fmt.Errorf(`"messages" has %d languages: it may have %d`, len(e.Messages), maxLanguages)
	}
	first := e.Language
	if first == "" {
		first = "en"
	}
	names := []string{first}
	for name := range e.Messages {
		if name != first {
			names = append(names, name)
		}
	}
	slices.Sort(names[1:])
	return h.addLanguages(names, e.Messages)
}

func (h *Hook) addLanguages(names []string, given map[string]map[Reason]string) error {
	h.messages = &messages{}
	var tags []language.Tag
	for _, name := range names {
		tag, err := language.Parse(name)
		if err != nil {
			return fmt.Errorf(`%.40q in "messages" or "language" is not a language tag, such as "en" or "pt-BR"`, name)
		}
		if err := checkMessages(name, given[name]); err != nil {
			return err
		}
		tags, h.messages.texts = append(tags, tag), append(h.messages.texts, given[name])
	}
	h.messages.matcher = language.NewMatcher(tags)
	return nil
}

// checkMessages refuses what a person could not read. A message must not be empty:
// Supabase ignores an error without one, and would allow the sign-up.
func checkMessages(name string, texts map[Reason]string) error {
	for reason, text := range texts {
		if defaultMessages[reason] == "" {
			return fmt.Errorf(`"messages", %q: %.40q is not a reason; the reasons are %v and %s`, name, string(reason), policyReasons, Unchecked)
		}
		if strings.TrimSpace(text) == "" || len(text) > maxMessage || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf(`"messages", %q, %q must have 1 to %d bytes and no control characters`, name, reason, maxMessage)
		}
	}
	return nil
}

// message returns the message of the first reason that denies, in the language that
// fits best. asked is a language tag or a list as in Accept-Language; if it is neither,
// the language is the hook's.
func (m *messages) message(v *Verdict, asked string) string {
	if v.Decision != Deny {
		return ""
	}
	at := 0
	if len(asked) <= maxLanguage {
		if tags, _, err := language.ParseAcceptLanguage(asked); err == nil && len(tags) > 0 {
			_, at, _ = m.matcher.Match(tags...)
		}
	}
	for _, texts := range []map[Reason]string{m.texts[at], m.texts[0], defaultMessages} {
		if text := texts[v.Reasons[0]]; text != "" {
			return text
		}
	}
	return defaultMessages[Unchecked]
}
