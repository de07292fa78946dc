package main

// listsCmd has the commands for lists.
type listsCmd struct {
	Show   listsShowCmd   `cmd:"" help:"Show the version, age, counts and signature of lists."`
	Update listsUpdateCmd `cmd:"" help:"Fetch newer signed lists from a feed. A service that runs with the same --lists takes them over."`
	Verify listsVerifyCmd `cmd:"" help:"Verify the form, the signature and the expiry of lists."`
	Keygen listsKeygenCmd `cmd:"" help:"Make a key pair that signs the lists of a feed."`
}

// listsKeyFlag is the key of commands that do not run the module.
type listsKeyFlag struct {
	ListsKey listsKey `placeholder:"KEY|FILE" help:"The public key that signs the lists: the line of minisign that begins with RW, or a .pub file."`
}
