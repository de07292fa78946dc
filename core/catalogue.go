package core

// Reason is a stable code for why an address is refused.
type Reason uint8

// Refusal is why an address is not valid, and where.
type Refusal struct {
	Reason Reason
	Offset int // of the offending byte in the input; the input's length if the end lacks something
	Excess int // bytes over the limit, if the reason is a limit
}

// Code returns the reason's stable name, such as "local_part_too_long". It is
// empty for Accepted.
func (r Reason) Code() string { return catalogue[r].code }

// Section returns the section of the standard that the reason rests on, such as
// "RFC 5321 section 4.5.3.1.1".
func (r Reason) Section() string { return catalogue[r].section }

// AppendSentence appends a sentence, without a full stop, that explains the
// refusal and how to correct email, the refused address. It never contains
// control characters.
func (r Refusal) AppendSentence(dst, email []byte) []byte {
	sentence := catalogue[r.Reason].sentence
	start := verbatim[r.Reason]
	dst = append(dst, sentence[:start]...)
	for i := int(start); i < len(sentence); i++ {
		switch sentence[i] {
		case '~':
			dst = appendCharacter(dst, email[min(r.Offset, len(email)):])
		case '#':
			dst = append(appendDecimal(dst, r.Excess), " byte"...)
			if r.Excess > 1 {
				dst = append(dst, 's')
			}
		default:
			dst = append(dst, sentence[i])
		}
	}
	return dst
}

// verbatim has the length of the part of each sentence before its first placeholder. It
// is computed when a program starts, which the module has done.
var verbatim = func() (lengths [len(catalogue)]uint8) {
	for r := range catalogue {
		sentence := catalogue[r].sentence
		for int(lengths[r]) < len(sentence) && sentence[lengths[r]] != '~' && sentence[lengths[r]] != '#' {
			lengths[r]++
		}
	}
	return lengths
}()

func appendDecimal(dst []byte, n int) []byte {
	if n >= 10 {
		dst = appendDecimal(dst, n/10)
	}
	return append(dst, '0'+byte(n%10))
}

// The reasons. The array catalogue describes them in the same order.
const (
	Accepted Reason = iota

	empty
	noAt
	atLookalike
	secondAt
	angleBracket
	mailtoPrefix
	severalAddresses
	atSpelled
	enclosed

	localPartMissing
	localPartStartsWithDot
	localPartEndsWithDot
	localPartTwoDots
	localPartSpace
	localPartComment
	localPartCharacter
	botName
	localPartTooLong
	quotedStringUnclosed
	textAfterQuotedString
	partlyQuoted
	quoteInside
	quotedControl

	domainMissing
	domainStartsWithDot
	domainEndsWithDot
	domainTwoDots
	domainSpace
	domainComment
	domainCharacter
	commaForDot
	domainPlaceholder
	domainTooLong
	labelTooLong
	labelStartsWithHyphen
	labelEndsWithHyphen
	labelHyphens
	labelStartsWithMark
	labelContext
	labelBidi
	labelPunycode

	literalUnclosed
	literalCharacter
	literalUnknown
	literalIPv4
	literalIPv6
	literalIPv6Tag
	textAfterLiteral

	commentUnclosed
	commentUnopened
	bareCR
	bareLF
	lineBreakAlone
	secondFold

	addressTooLong
	normalizedTooLong
	controlCharacter
	invisibleCharacter
	bidiControl
	malformedUTF8
)

// entry describes a reason. AppendSentence replaces ~ in the sentence by the
// character at the offset and # by the number of bytes over the limit.
type entry struct{ code, section, sentence string }

const (
	addrSpecSection = "RFC 5322 section 3.4.1"
	atomSection     = "RFC 5322 section 3.2.3"
	quotedSection   = "RFC 5322 section 3.2.4"
	cfwsSection     = "RFC 5322 section 3.2.2"
	hostSection     = "RFC 5321 section 4.1.2"
	literalSection  = "RFC 5321 section 4.1.3"
)

var catalogue = [...]entry{
	empty:            {"empty", addrSpecSection, "the address is empty; write it as name@domain"},
	noAt:             {"no_at", addrSpecSection, "the address has no @; write it as name@domain"},
	atLookalike:      {"at_lookalike", addrSpecSection, "the address has ~ in place of the @; write a plain @"},
	secondAt:         {"second_at", addrSpecSection, "the address has a second @; keep one, or put the local part in double quotes"},
	angleBracket:     {"angle_bracket", addrSpecSection, "the address has ~; give only the address between the angle brackets, without a name"},
	mailtoPrefix:     {"mailto_prefix", addrSpecSection, "the address begins with mailto:; leave that out"},
	severalAddresses: {"several_addresses", addrSpecSection, "the domain has ~ after it; remove it, and give one address at a time"},
	atSpelled:        {"at_spelled", addrSpecSection, "the address has the word \"at\" in place of the @; write a plain @"},
	enclosed:         {"enclosed", addrSpecSection, "the address begins with ~ and ends with its counterpart; remove both"},

	localPartMissing:       {"local_part_missing", addrSpecSection, "the local part is missing; put it before the @"},
	localPartStartsWithDot: {"local_part_starts_with_dot", atomSection, "the local part starts with a dot; remove it"},
	localPartEndsWithDot:   {"local_part_ends_with_dot", atomSection, "the local part ends with a dot; remove it"},
	localPartTwoDots:       {"local_part_two_dots", atomSection, "the local part has two dots in a row; remove one"},
	localPartSpace:         {"local_part_space", atomSection, "the local part has ~ inside; remove it, or put the local part in double quotes"},
	localPartComment:       {"local_part_comment", "RFC 5322 section 4.4", "the local part has a comment inside; move it to the start or the end"},
	localPartCharacter:     {"local_part_character", atomSection, "the local part has ~ outside quotes; remove it, or put the local part in double quotes"},
	botName:                {"bot_name", atomSection, "the local part has ~ outside quotes, as the names of programs on code forges have; put the local part in double quotes"},
	localPartTooLong:       {"local_part_too_long", "RFC 5321 section 4.5.3.1.1", "the local part is # too long; at most 64 fit"},
	quotedStringUnclosed:   {"quoted_string_unclosed", quotedSection, "the double quote that opens here is never closed; close it before the @"},
	textAfterQuotedString:  {"text_after_quoted_string", quotedSection, "~ follows the closing double quote; put the whole local part between one pair of quotes"},
	partlyQuoted:           {"partly_quoted", "RFC 5322 section 4.4", "only a piece of the local part is quoted; put the whole of it between one pair of double quotes"},
	quoteInside:            {"quote_inside", atomSection, "the local part has a double quote inside; remove it, or put the whole local part in double quotes"},
	quotedControl:          {"quoted_control", "RFC 5322 section 3.2.1", "a backslash escapes ~; only printable characters, spaces and tabs can be escaped"},

	domainMissing:         {"domain_missing", addrSpecSection, "the domain is missing; put it after the @"},
	domainStartsWithDot:   {"domain_starts_with_dot", hostSection, "the domain starts with a dot; remove it"},
	domainEndsWithDot:     {"domain_ends_with_dot", hostSection, "the domain ends with a dot; remove it"},
	domainTwoDots:         {"domain_two_dots", hostSection, "the domain has two dots in a row; remove one"},
	domainSpace:           {"domain_space", "RFC 5322 section 4.4", "the domain has ~ inside; remove it"},
	domainComment:         {"domain_comment", "RFC 5322 section 4.4", "the domain has a comment inside; move it to the start or the end"},
	domainCharacter:       {"domain_character", hostSection, "the domain has ~; use letters, digits, hyphens and dots alone"},
	commaForDot:           {"comma_for_dot", hostSection, "the domain has ~ in place of a dot; write a dot"},
	domainPlaceholder:     {"domain_placeholder", hostSection, "the domain has a placeholder, such as (none), for a name that was not known; write the real domain"},
	domainTooLong:         {"domain_too_long", "RFC 1035 section 2.3.4", "the domain is # too long; at most 253 fit"},
	labelTooLong:          {"label_too_long", "RFC 1035 section 2.3.4", "a part of the domain between dots is # too long; at most 63 fit"},
	labelStartsWithHyphen: {"label_starts_with_hyphen", hostSection, "a part of the domain starts with a hyphen; remove it"},
	labelEndsWithHyphen:   {"label_ends_with_hyphen", hostSection, "a part of the domain ends with a hyphen; remove it"},
	labelHyphens:          {"label_hyphens", "RFC 5891 section 4.2.3.1", "an international part of the domain has hyphens as its third and fourth characters; remove one"},
	labelStartsWithMark:   {"label_starts_with_mark", "RFC 5891 section 4.2.3.2", "a part of the domain starts with the combining mark ~; put a letter before it"},
	labelContext:          {"label_context", "RFC 5892 appendix A", "the domain has ~ where the characters beside it do not allow it; remove it"},
	labelBidi:             {"label_bidi", "RFC 5893 section 2", "a part of the domain mixes right-to-left with other characters so that its order is lost; keep to one direction"},
	labelPunycode:         {"label_punycode", "RFC 5891 section 4.2.1", "a part of the domain begins with xn-- yet encodes no international name; check its spelling"},

	literalUnclosed:  {"literal_unclosed", addrSpecSection, "the bracket that opens here is never closed; end the address literal with ]"},
	literalCharacter: {"literal_character", addrSpecSection, "the address literal has ~; write it as [192.0.2.1] or [IPv6:2001:db8::1]"},
	literalUnknown:   {"literal_unknown", literalSection, "the brackets contain no IP address; write it as [192.0.2.1] or [IPv6:2001:db8::1]"},
	literalIPv4:      {"literal_ipv4", literalSection, "the IPv4 address in brackets is malformed; write four numbers from 0 to 255 with dots between"},
	literalIPv6:      {"literal_ipv6", literalSection, "the IPv6 address in brackets is malformed; write eight groups of up to four hexadecimal digits with colons between, or :: for groups of zeros"},
	literalIPv6Tag:   {"literal_ipv6_tag", literalSection, "the IPv6 address in brackets lacks its tag; write it as [IPv6:2001:db8::1]"},
	textAfterLiteral: {"text_after_literal", addrSpecSection, "~ follows the address literal; end the address with the closing bracket"},

	commentUnclosed: {"comment_unclosed", cfwsSection, "the comment that opens here is never closed; close its parenthesis"},
	commentUnopened: {"comment_unopened", cfwsSection, "a closing parenthesis has no opening one; remove it"},
	bareCR:          {"bare_cr", "RFC 5322 section 2.2", "a carriage return has no line feed after it; remove it"},
	bareLF:          {"bare_lf", "RFC 5322 section 2.2", "a line feed has no carriage return before it; remove it"},
	lineBreakAlone:  {"line_break", cfwsSection, "a line break has no white space after it; remove it"},
	secondFold:      {"second_fold", "RFC 5322 section 4.2", "a run of white space has two line breaks; keep one at most"},

	addressTooLong:     {"address_too_long", "RFC 5321 section 4.5.3.1.3", "the address is # too long; at most 254 fit"},
	normalizedTooLong:  {"normalized_too_long", "RFC 5321 section 4.5.3.1", "the address is # too long once in lower case and Unicode NFC; shorten it"},
	controlCharacter:   {"control_character", hostSection, "the address has the control character ~; remove it"},
	invisibleCharacter: {"invisible_character", "RFC 5892 section 2.3", "the address has the invisible character ~; remove it"},
	bidiControl:        {"bidi_control", "RFC 5892 section 2.3", "the address has the invisible direction mark ~; remove it"},
	malformedUTF8:      {"malformed_utf8", "RFC 3629 section 4", "the address has ~, which is not well-formed UTF-8; encode the address in UTF-8"},
}
