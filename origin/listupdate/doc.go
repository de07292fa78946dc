// Package listupdate keeps the lists of a running service fresh, and fetches
// newer ones for `addrspec lists update`.
//
// A [Source] is a feed: a folder of a web server or of this machine. Its method
// Newer fetches the signature, decides by its statement whether there is
// anything to do, and only then fetches the blob. A [Keeper] has the lists in
// use. It installs newer ones from a feed, and from a file that somebody else
// replaces. Package lists/feed verifies, package lists/feed/store has the files.
package listupdate
