package main

import "strings"

// languages maps locales to keys if the key is not the first part of the locale:
// cultures that share a language have keys of their own. A locale with the key ""
// is left out: its script omits vowels or has no romanization here, or it is a
// joke.
var languages = map[string]string{
	"en_GH": "gh", "tw_GH": "gh", "en_NG": "ng", "en_UG": "ug", "en_IN": "in", "en_NP": "np", "en_ZA": "za",
	"en_HK": "hk", "en_SG": "sg", "fr_SN": "sn", "en_TH": "th", "then": "th", "en_PAK": "pk", "mi_NZ": "mi",
	"en_BORK": "", "en_au_ocker": "", "dk": "da", "se": "sv", "nb": "no", "cn": "zh", "tw": "zh", "kr": "ko",
	"br": "pt", "gr": "el", "ua": "uk", "ph": "ph", "mx": "es", "in": "in", "ga": "ga", "": "en", "vn": "vi", "ee": "et",
	"ar": "", "fa": "", "he": "", "ur": "", "dv": "", "th_TH": "", "ku_ckb": "", "ar_SA": "", "kh": "", "en_MS": "ms",
}

// language returns the key of a locale, or "" if the locale is left out.
func language(locale string) string {
	locale = strings.ReplaceAll(locale, "-", "_")
	if key, known := languages[locale]; known {
		return key
	}
	key, _, _ := strings.Cut(locale, "_")
	if key == "fa" || key == "he" || key == "ar" || key == "ur" {
		return ""
	}
	return key
}
