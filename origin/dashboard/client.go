package dashboard

import "strings"

// clientName describes a browser from its User-Agent, for the list of sessions.
// The string itself is not stored: it is long, and anybody can write it.
func clientName(userAgent string) string {
	browser := firstOf(userAgent, "an unknown program", []string{
		"Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "FxiOS/", "Firefox", "Chrome/", "Chrome", "CriOS/", "Chrome", "Safari/", "Safari", "curl/", "curl"})
	system := firstOf(userAgent, "", []string{
		"iPhone", "iPhone", "iPad", "iPad", "Android", "Android", "Windows", "Windows", "Mac OS X", "macOS", "CrOS", "ChromeOS", "Linux", "Linux"})
	if system == "" {
		return browser
	}
	return browser + " on " + system
}

// firstOf returns the name after the first part that text contains.
func firstOf(text, otherwise string, partsAndNames []string) string {
	for i := 0; i < len(partsAndNames); i += 2 {
		if strings.Contains(text, partsAndNames[i]) {
			return partsAndNames[i+1]
		}
	}
	return otherwise
}
