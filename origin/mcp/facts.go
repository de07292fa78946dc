package mcp

import "github.com/addrspec/addrspec/origin/result"

// facts is the result of an address as tools give it out: the fields of the API,
// but mx is null where nothing was looked up. The descriptions are for assistants.
type facts struct {
	Email          string  `json:"email" jsonschema:"The address as given."`
	Valid          bool    `json:"valid" jsonschema:"It is well-formed and mail can carry it (RFC 5321, 5322, 6531). It does not follow that the mailbox exists: no mail server is asked."`
	Normalized     *string `json:"normalized" jsonschema:"Lower case, Unicode NFC, without comments and needless quotes; the plus tag stays. null unless valid."`
	LocalPart      *string `json:"local_part" jsonschema:"The part before the @. null unless valid."`
	Alias          bool    `json:"alias" jsonschema:"The local part has a plus tag, as in jane+news@example.org. Most providers deliver it to the address without the tag."`
	ASCII          bool    `json:"ascii" jsonschema:"Every byte is ASCII. Some mail servers refuse addresses that are not."`
	Role           *string `json:"role" jsonschema:"Admin, Support, Sales, Marketing, General, NoReply, Billing, Legal, IT or HR, if the address is that of a function and not of one person; else null."`
	Gibberish      bool    `json:"gibberish" jsonschema:"The local part looks random. This is an estimate: people with rare names or initials can be flagged, so never reject a person for it alone."`
	GibberishScore float64 `json:"gibberish_score" jsonschema:"The probability, from 0 to 1, behind gibberish (which is 0.5 and more)."`
	Domain         *string `json:"domain" jsonschema:"The part after the @. null unless valid."`
	MX             *bool   `json:"mx" jsonschema:"The domain has an MX record that names a mail server. null: it was not looked up, and nothing follows. false: the domain most likely takes no mail. true does not prove that the mailbox exists."`
	Disposable     bool    `json:"disposable" jsonschema:"The domain belongs to a known provider of throw-away mailboxes. false proves nothing: new ones appear daily."`
	Public         bool    `json:"public" jsonschema:"Anybody can open a mailbox at this domain, as at gmail.com. It says nothing bad about the address."`
	Relay          bool    `json:"relay" jsonschema:"The domain forwards mail and hides the address of a real person. It is not disposable."`
	Typo           bool    `json:"typo" jsonschema:"The domain looks like a misspelling of a common provider's. Ask the person; do not correct it silently."`
	TypoSuggestion *string `json:"typo_suggestion" jsonschema:"The domain that was probably meant, or the whole corrected address if the service is set so; null unless typo."`
}

// factsOf returns the facts of a result. mx is nil if it was not looked up.
func factsOf(r *result.Result, mx *bool) facts {
	return facts{
		Email: r.Email, Valid: r.Valid, Normalized: text(r.Normalized), LocalPart: text(r.LocalPart), Alias: r.Alias, ASCII: r.ASCII,
		Role: text(r.Role), Gibberish: r.Gibberish, GibberishScore: r.GibberishScore, Domain: text(r.Domain), MX: mx,
		Disposable: r.Disposable, Public: r.Public, Relay: r.Relay, Typo: r.Typo, TypoSuggestion: text(r.TypoSuggestion),
	}
}

// text returns nil for "", which is null in a result.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
