package mcp

import (
	"fmt"
	"strconv"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/wasm/result"
)

const (
	textCheckEmail  = "Reports facts about one email address: whether it is well-formed, its normal form, role account, random-looking local part, disposable, public or forwarding provider, a misspelled domain with the suggested one, and MX records of the domain. No mail is sent and no mailbox is probed."
	textCheckEmails = "Reports the facts of check_email for 1 to 64 addresses in one call, which is faster than one call for each. For longer lists, use the command addrspec check."
	textExplain     = "Reports the facts about one address and the evidence: why it is not valid (what, where, which section of the standard, how to fix it), which entry of the lists matched its domain, which word made it a role account, which edits make it a misspelling, what is unusual about its form, who takes the domain's mail, and the canonical form by which equal mailboxes are recognised."
)

const (
	textPolicy = `What decides about each address, which then has a verdict: an object such as {"allow": {"domains": ["*.corp.example"]}, "block": {"reasons": ["disposable", "no_mail"]}, "review": {"reasons": ["role", "typo"]}}. ` +
		"allow, block and review may have domains (*.x is x and what is below), block and review reasons. The most specific domain decides, then the reasons of block, then those of review; else the address is allowed. An address that is not valid is blocked. " +
		"Reasons: disposable, public, relay, typo, alias, role or one category (role:marketing), gibberish or with a threshold (gibberish>=0.8), no_mx, no_mail (neither MX nor address record; better than no_mx), non_ascii, quoted, comment, literal, single_label, unknown_tld, special_use, generated, odd_character, looks_disposable, mailbox_form. " +
		"Without it, the policy of the server or of the key decides, if there is one."
	textPolicyAgain = "What decides about each address. It is described at check_email."
)

// modes are the words that depend on a mode: what it changes, at the end of each description; what
// a policy is in it, at the end of its description; and what to do with a policy that is too long
// for a call.
var modes = [...]struct{ facts, policy, longer string }{
	Offline: {"MX records are not looked up: mx is null, and nothing follows from that.",
		" The reasons no_mx and no_mail are skipped, since nothing is looked up.", withFile},
	DNS: {"MX records are looked up by DNS.", "", withFile},
	Service: {"The check is done by an addrspec service; each different address costs its account one usage point.",
		" A string is the name of a policy of the account; use one only if the person names it.",
		"store a longer one in the account and give its name"},
}

const withFile = "for a longer one, start the server with --policy FILE"

const textInstructions = "addrspec reports facts about email addresses. " +
	"Prefer check_emails for more than one address, and explain when a person asks why. " +
	"A valid address need not have a mailbox: nothing here proves that it has one. Report facts and let the person decide; " +
	"for a typo, show the suggestion and ask. mx null means that nothing was looked up. " +
	"mx false does not mean that mail fails: without MX records it goes to the domain's address record, if it has one. " +
	"Use a policy where the person says which addresses to block or to review, and report the verdict with its rule. "

// line puts a result into a line: the verdict of a policy, and the facts that are notable.
func line(object []byte) (string, error) {
	r, err := result.Parse(object)
	if err != nil {
		return "", err
	}
	text := quote(r.Email) + ": "
	if v := r.Verdict; v.Action != "" {
		text += "verdict " + v.Action
		if because := v.Because(); because != "" {
			text += " (" + because + ")"
		}
		text += "; "
	}
	if !r.Valid {
		text += "not a "
	}
	text += "valid address."
	if d := r.Details; d != nil && d.Refusal != nil {
		text += fmt.Sprintf(" At byte %d: %s (%s).", d.Refusal.Offset, d.Refusal.Sentence, d.Refusal.Section)
		if d.Refusal.Suggestion != "" {
			text += fmt.Sprintf(" Did you mean %s?", quote(d.Refusal.Suggestion))
		}
	}
	for _, f := range r.Facts() {
		if f.Notable || f.Field == "mx" {
			text += " " + f.Sentence
		}
	}
	return output.Printable(text), nil
}

// quote makes a part of an address safe within a line.
func quote(s string) string { return strconv.QuoteToGraphic(s) }

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
	MX             *bool   `json:"mx" jsonschema:"The domain has an MX record that names a mail server. null: it was not looked up, and nothing follows. false: it has none, so mail goes to its address record, if it has one (RFC 5321 section 5.1); do not advise to delete the address for that alone. true does not prove that the mailbox exists."`
	Disposable     bool    `json:"disposable" jsonschema:"The domain belongs to a known provider of throw-away mailboxes, or all servers that take its mail do (if MX was looked up). false proves nothing: new ones appear daily."`
	Public         bool    `json:"public" jsonschema:"Anybody can open a mailbox at this domain, as at gmail.com. It says nothing bad about the address."`
	Relay          bool    `json:"relay" jsonschema:"The domain forwards mail and hides the address of a real person. It is not disposable."`
	Typo           bool    `json:"typo" jsonschema:"The domain looks like a misspelling of a common provider's. Ask the person; do not correct it silently."`
	TypoSuggestion *string `json:"typo_suggestion" jsonschema:"The domain that was probably meant, or the whole corrected address if the service is set so; null unless typo."`

	Verdict *verdict `json:"verdict,omitempty" jsonschema:"What the policy decides; only with a policy."`
}

// verdict is what a policy decides about an address.
type verdict struct {
	Action string  `json:"action" jsonschema:"allow, review or block."`
	Reason *string `json:"reason" jsonschema:"The policy's reason, address, domain, exchange or invalid; null if nothing in the policy applies."`
	Rule   *string `json:"rule" jsonschema:"The place in the policy of what decided, such as block.reasons[0]; null if nothing did."`
}

// details is the evidence for a result.
type details struct {
	Refusal          *refusal          `json:"refusal" jsonschema:"Why the address is not valid; null if it is."`
	Canonical        *string           `json:"canonical" jsonschema:"The identity of the mailbox under its provider's published rules, such as dots that do not count at Gmail. If two addresses have the same value, it is the same mailbox. If the values differ, nothing follows. Do not send mail to it. null unless valid."`
	CanonicalRule    *string           `json:"canonical_rule" jsonschema:"The name of the provider's rule; null if none is known."`
	RoleEvidence     *roleEvidence     `json:"role_evidence" jsonschema:"What made it a role account; null if it is none."`
	ProviderEvidence *providerEvidence `json:"provider_evidence" jsonschema:"The entry of the lists that matched the domain; null if none did."`
	TypoEvidence     *typoEvidence     `json:"typo_evidence" jsonschema:"The edits from the domain to the suggested one; null if it is no typo."`
	Versions         versions          `json:"versions" jsonschema:"Of what produced the result."`
	Form             []string          `json:"form" jsonschema:"What is unusual about a valid address: quoted, comment, literal (an IP address in place of a domain), single_label (a domain without a dot), unknown_tld, special_use (reserved, as localhost and example.com), generated (as a throw-away service generates them), odd_character, looks_disposable (the domain resembles throw-away ones), mailbox_form (the provider has no mailbox with such a local part). Empty for most."`
	Exchange         *exchange         `json:"exchange" jsonschema:"The server that takes the domain's mail; null if MX was not looked up."`
}

// The members of details.
type (
	refusal struct {
		Code     string `json:"code" jsonschema:"A stable name, such as local_part_two_dots."`
		Offset   int    `json:"offset" jsonschema:"Of the offending byte in the address, from 0."`
		Section  string `json:"section" jsonschema:"Of the standard that it rests on."`
		Sentence string `json:"sentence" jsonschema:"What is wrong and how to fix it."`

		Suggestion *string `json:"suggestion" jsonschema:"The address that is meant, if exactly one certain correction makes it valid; else null. Ask the person."`
	}
	roleEvidence struct {
		Word       string   `json:"word" jsonschema:"The word of a role that was found."`
		Match      string   `json:"match" jsonschema:"How the local part has the word: word (alone), separated (with separators in it), glued (to a qualifier), part (after another word), host (the domain takes no mail by design)."`
		Qualifiers []string `json:"qualifiers" jsonschema:"Regions, languages, departments or numbers beside it."`
	}
	providerEvidence struct {
		Entry      string   `json:"entry" jsonschema:"The domain in the lists."`
		Class      string   `json:"class" jsonschema:"disposable, public, relay, no_mail (a host that takes no mail by design), known (in use, so no misspelling) or unproven (no class: only lists without proof have it, or its top-level domain is one that throw-away services prefer)."`
		Subdomains bool     `json:"subdomains" jsonschema:"The entry covers its subdomains."`
		Sources    []string `json:"sources" jsonschema:"The lists that have it."`
	}
	typoEvidence struct {
		Target string `json:"target" jsonschema:"The suggested domain."`
		Edits  []edit `json:"edits" jsonschema:"From the domain to the target."`
	}
	edit struct {
		Kind string `json:"kind" jsonschema:"Such as transposition."`
		At   int    `json:"at" jsonschema:"The position, from 0."`
		From string `json:"from,omitempty" jsonschema:"What is there."`
		To   string `json:"to,omitempty" jsonschema:"What was probably meant."`
	}
	exchange struct {
		Class         string  `json:"class" jsonschema:"mailbox, suite (mail for companies), gateway (a filter), host (a hosting company), forward, relay, temporary (throw-away mailboxes), parked (no mail), own (the domain's own server) or unknown."`
		Provider      *string `json:"provider" jsonschema:"Who runs it; null if that is not known."`
		Entry         *string `json:"entry" jsonschema:"The entry of the lists behind that."`
		Host          *string `json:"host" jsonschema:"Its name; null without MX."`
		AddressRecord *bool   `json:"address_record" jsonschema:"Without MX: whether the domain has an address record, to which mail goes. null with MX, or if that lookup failed."`
	}
	versions struct {
		Engine string `json:"engine" jsonschema:"The checks."`
		Lists  string `json:"lists" jsonschema:"The lists; it begins with their date."`
		Model  string `json:"model" jsonschema:"The model that scores gibberish."`
	}
)
