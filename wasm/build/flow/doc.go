// Package flow rewrites the functions that the Go compiler made so that their
// branches are those of WebAssembly.
//
// The compiler makes one loop of a function, with a br_table over all its basic
// blocks at the start, and every jump writes the number of a block to a local
// variable and returns to that table. A goroutine that was switched away continues
// in a function in the same way, behind the call that switched. An engine can
// neither predict these jumps nor keep values in registers across them.
//
// Function reads the basic blocks and their jumps (read.go), finds loops by
// dominators (graph.go, dominators.go) and writes the same blocks with block, loop
// and br (write.go), as in Ramsey, "Beyond Relooper: recursive translation of
// unstructured control flow to structured control flow" (ICFP 2022). The entries
// behind calls remain: a function that is entered there goes through a br_table at its
// start, and into a loop through another one at the start of that loop (resume.go).
//
// Then it computes the address in each pointer once (share.go), and lets no way lead on
// behind calls that never return (never.go), for which it needs the names of functions.
// It changes no other instruction. A function that does not have the form above, such as
// assembly of the runtime, remains as it is.
package flow
