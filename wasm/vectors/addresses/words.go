package addresses

import "strings"

// The parts that Generate combines.
var (
	words = []string{
		"jane", "john.smith", "maria", "o'neil", "li", "mueller", "info", "no-reply", "sales", "support",
		"admin", "hr", "postmaster", "salesman", "teamster", "x", "1984", "qwerty", "example", "newsletter",
		"José", "søren", "иван", "用户", "δοκιμή", "MixedCase",
	}
	joints = []string{".", "-", "_", "", "..", "+"}
	odd    = []string{
		"", ".", "a.", ".a", `"quoted"`, `"with space"`, `"a\"b"`, `"a\\b"`, `""`, `"open`, `"tab	in"`,
		"(comment)", "(a(nested)b)", "(open", "a b", "a\tb", "a\r\n b", "a\nb", "!#$%&'*+-/=?^_`{|}~",
		"e\u0301", "\u200b", "\u202e", "a\u00adb", "\ufeff", "ﬁ", strings.Repeat("l", 64), strings.Repeat("l", 65),
		"a\x00b", "\x7f", "\xff", "\xed\xa0\x80", "\u0628\u200c\u0628", "(" + strings.Repeat("c", 4090) + ")",
	}
	providers = []string{
		"gmail.com", "googlemail.com", "hotmail.com", "outlook.com", "yahoo.com", "yahoo.co.in", "icloud.com",
		"aol.com", "gmx.de", "web.de", "mail.ru", "qq.com", "proton.me", "ymail.com", "mailinator.com",
		"guerrillamail.com", "privaterelay.appleid.com", "mozmail.com",
	}
	topLevels  = []string{"com", "org", "de", "co.uk", "museum", "invalid", "123", "x", "рф", "xn--p1ai", "c", ""}
	oddDomains = []string{
		"", ".", "localhost", "127.0.0.1", "[127.0.0.1]", "[IPv6:2001:db8::1]", "[IPv6:::]", "[1.2.3]", "[", "[]",
		"-a.example", "a-.example", "a..example", "example.org.", "under_score.example", "bücher.example",
		"xn--bcher-kva.example", "xn--a.example", "straße.example", "ＦＵＬＬ.example", "例え。テスト",
		"\u0627\u0644.example", "a\u200db.example", "\u0915\u094d\u200d\u0937.example", "\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com",
		"xn--mgba3gch31f060k.com", "(c)example.org", "example (c) .org", "example.org(c)",
		strings.Repeat("d", 63) + ".example", strings.Repeat("d", 64) + ".example",
		strings.Repeat("a.", 126) + "a", strings.Repeat("a.", 127) + "a",
	}
	pieces = []string{
		"@", "@@", ".", "..", " ", "\t", "\r\n", "\r\n ", "\x00", "\x1b", "(", ")", "(c)", `"`, `\`, "<", ">", ",", ";", ":",
		"[", "]", "+", "é", "e\u0301", "ß", "İ", "ς", "漢", "\u200b", "\u200c", "\u200d", "\u094d\u200d", "\u2066", "\u0300", "\ufffd", "😀", "\xc3", "\xf4\x90\x80\x80",
	}
)
