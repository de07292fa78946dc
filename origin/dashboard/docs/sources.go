package docs

// sources says where the value of each field of a result comes from.
var sources = map[string]string{
	"email":           "the request",
	"valid":           "RFC 5322 section 3.4.1, RFC 6531, RFC 5321 section 4.5.3.1",
	"normalized":      "Unicode NFC and lower case; RFC 5322 section 3.2",
	"local_part":      "RFC 5322 section 3.4.1",
	"alias":           "RFC 5233 section 1",
	"ascii":           "the bytes of the address",
	"role":            "a table of words (RFC 2142 and common use)",
	"gibberish":       "gibberish_score",
	"gibberish_score": "a statistical model of names and words",
	"domain":          "RFC 5322 section 3.4.1, RFC 5890",
	"mx":              "DNS, at the time of the request (RFC 5321 section 5, RFC 7505)",
	"disposable":      "a table of providers",
	"public":          "a table of providers",
	"relay":           "a table of providers",
	"typo":            "a comparison with common providers and known domains",
	"typo_suggestion": "the same comparison",
	"details":         "what decided about the other fields, on request",
}

// resultSchema is the name of the component that sources describes.
const resultSchema = "Result"
