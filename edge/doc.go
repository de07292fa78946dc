// Package edge holds the tests of the edge worker that need its neighbours: a
// running origin, real runtimes, DNS over real sockets. The worker itself is
// TypeScript, in src and entry.
package edge
