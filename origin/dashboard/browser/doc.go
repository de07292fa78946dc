// Package browser tests the dashboard in Chromium: the real command serves it, and
// scripts in Node use it as people do (stories/), or look at every page of
// seeded accounts (pages.mjs). It also checks the types of the dashboard's scripts.
//
// The tests need Node, the packages of package.json (npm ci) and Chromium, at the
// usual paths or at ADDRSPEC_CHROMIUM; otherwise they are skipped. A story that
// fails leaves a picture in dist/browser/.
package browser
