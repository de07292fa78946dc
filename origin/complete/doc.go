// Package complete completes command lines of a kong model in bash, zsh and fish.
//
// The shell's script asks the program itself: it runs it with the word Command and
// the words typed so far, as the programs made with Cobra do, so that flags and
// values are those of the installed version. It is our own because the libraries for
// kong (kongplete, kong-completion) build on posener/complete, which gives no
// descriptions to zsh and fish and edits the user's start-up files.
package complete
