// Package vectors makes addresses of all kinds, as many as a test wants, and
// core's own answers to them, which every host of the module must give too. It
// is for tests alone.
package vectors
