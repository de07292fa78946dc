// Package slim makes a smaller module of addrspec.wasm, for hosts to load first.
//
// Two thirds of the module's code are Go's runtime, and checks call little of it. So the
// packer records in a custom section which functions checks called (Mark), and a host
// replaces the others by a trap (Cut). An engine validates and loads less code then.
// What the memory contains at the start, more than half of the module, stays outside of
// it too: an engine would copy it when it decodes the module, and again for each
// instance. The host copies it to the memory itself (Fill).
//
// A check in the smaller module either runs the same code as in the whole one, and
// gives the same bytes, or traps. A check keeps no state, so the host then runs it
// again in the whole module. What the section contains decides only about speed.
package slim
