package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/addrspec/addrspec/origin/command/complete"
	"github.com/addrspec/addrspec/origin/service"
)

// helpWidth is the longest line of help; a narrower terminal has shorter ones.
const helpWidth = 100

// commandGroups has the group of each command in the help. A tag on a command would give the
// group to its flags too.
var commandGroups = map[string]string{
	"Check addresses:":   "check mcp",
	"Run the service:":   "serve doctor hooks",
	"Accounts and keys:": "account key policy plan usage",
	"Lists:":             "lists",
	"Operate:":           "backup restore export import completion man version help",
}

// flagGroups is the order of the groups of the flags of check and serve. Those of
// embedded structs would come first.
var flagGroups = []string{"Input:", "Output:", "MX records:", "Through a service:", "End and exit code:", "Listeners:",
	"Database:", "DNS:", "Limits:", "Log:", "Module and lists:", "Dashboard and sign-in:", "Sign-up hooks:"}

// arrangeHelp groups the commands, sorts their flags by group, and writes the values of a
// flag that has few as its placeholder.
func arrangeHelp(n *kong.Node) {
	group := func(f *kong.Flag) int {
		if f.Group == nil {
			return -1
		}
		return slices.Index(flagGroups, f.Group.Title)
	}
	slices.SortStableFunc(n.Flags, func(a, b *kong.Flag) int { return cmp.Compare(group(a), group(b)) })
	for _, f := range n.Flags {
		if f.Enum != "" && f.PlaceHolder == "" {
			f.PlaceHolder = strings.ReplaceAll(f.Enum, ",", "|")
		}
	}
	for _, child := range n.Children {
		title := "Commands:"
		for name, commands := range commandGroups {
			if n.Parent == nil && slices.Contains(strings.Fields(commands), child.Name) {
				title = name
			}
		}
		child.Group = &kong.Group{Key: title, Title: title}
		arrangeHelp(child)
	}
}

// printHelp prints the help of the selected command, with its examples last, so
// that they are what a terminal shows.
func printHelp(options kong.HelpOptions, c *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, c); err != nil || options.Summary {
		return err
	}
	text := ""
	for _, e := range commandExamples[cmp.Or(c.Selected(), c.Model.Node).Path()] {
		text += fmt.Sprintf("  # %s\n  %s\n", e.does, e.line)
	}
	if text != "" {
		text = "\nExamples:\n" + text
	}
	_, err := io.WriteString(c.Stdout, text)
	return err
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command, such as key create."`
}

func (c *helpCmd) Run(k *kong.Context) error {
	_, err := k.Parse(append(c.Command, "--help"))
	return service.UsageError{Err: err} // --help without an error does not return
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *completionCmd) Run(std streams) error {
	script, err := complete.Scripts.ReadFile("addrspec." + c.Shell)
	if err != nil {
		return err
	}
	_, err = std.out.Write(script)
	return err
}

// wrongCommandLine prints what is wrong with a command line. Without a command, or
// without the second word of one, it prints the commands that there are.
func wrongCommandLine(to io.Writer, err error) {
	words := "addrspec"
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok {
		node := cmp.Or(wrong.Context.Selected(), wrong.Context.Model.Node)
		if len(node.Children) > 0 && wrong.Context.Error == nil {
			wrong.Context.Stdout = to
			_ = wrong.Context.PrintUsage(false)
			return
		}
		words = node.FullPath()
	}
	fmt.Fprintf(to, "addrspec: %v\nTry '%s --help'.\n", err, words)
}

// A commandExample is a command line that works, and what it does.
type commandExample struct{ does, line string }

// commandExamples has the examples of each command by its words, "" for the program. Help
// and man page print them, and a test runs them in this order or parses them.
var commandExamples = map[string][]commandExample{
	"": {
		{"check an address", "addrspec check jane@example.org"},
		{"start a service to play with", "addrspec serve --demo --log text"},
		{"all about one command", "addrspec help key create"},
	},
	"check": {
		{"check an address, and say why", "addrspec check --details jane@example.org"},
		{"check the export of a mailing tool: its columns come first in the output", "addrspec check customers.csv -o checked.csv"},
		{"go on after Ctrl-C, which says from which record", "addrspec check --resume 51200 customers.csv -o checked.csv"},
		{"print the addresses of a list in normal form", "addrspec check --quiet < addresses.txt | jq .normalized"},
		{"fail a job whose list has addresses that cannot work, without DNS", "addrspec check --offline --fail-on invalid,typo addresses.txt"},
		{"decide about each address by a policy, and fail a job if one is blocked", "addrspec check --policy signup.json --fail-on block addresses.txt"},
		{"through a service, by a policy of the account", "addrspec check --server https://addrspec.example --policy sign-up addresses.txt"},
		{"check through a service, with its resolver", "addrspec check --server https://addrspec.example --key-file addrspec.key addresses.txt"},
	},
	"mcp": {
		{"facts from this process, MX records by DNS", "addrspec mcp"},
		{"no network", "addrspec mcp --offline"},
		{"with a policy that allows, reviews or blocks", "addrspec mcp --policy policy.json"},
		{"through a service", "addrspec mcp --server https://addrspec.example --key-file addrspec.key"},
	},
	"serve": {
		{"try the service with a demo account", "addrspec serve --demo --log text"},
		{"serve behind a proxy, with one database for several replicas", "addrspec serve --database postgres://addrspec@db.example/addrspec --public-url https://addrspec.example"},
		{"correct the lists with a file of your own", "addrspec serve --lists-extra /etc/addrspec-lists.txt"},
		{"keep the lists fresh from a feed", "addrspec serve --lists-url https://lists.example/lists/ --lists-key RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3 --lists data/lists.blob"},
	},
	"doctor": {
		{"check this machine and the database", "addrspec doctor --database sqlite:data/addrspec.db"},
		{"the running service, its certificate and its worker, too", "addrspec doctor --public-url https://addrspec.example --edge-url https://edge.addrspec.example"},
		{"in a closed network", "addrspec doctor --dns 192.0.2.53:53 --dns-with-mx mail.example --dns-without-mx www.mail.example"},
	},
	"hooks check": {
		{"validate a file of sign-up hooks", "addrspec hooks check hooks.json"},
		{"see whether their accounts exist, too", "addrspec hooks check hooks.json --database sqlite:data/addrspec.db"},
		{"try an address, without DNS", "addrspec hooks check hooks.json jane@example.org --offline"},
	},
	"account create": {
		{"an account on the plan free", "addrspec account create --account jane@example.org"},
		{"an account with limits of its own", "addrspec account create --account shop@example.org --plan pro --points 50000 --rate 10 --overage"},
	},
	"account list": {
		{"all accounts", "addrspec account list"},
		{"those with a text in their email, for a spreadsheet", "addrspec account list --search example.org --to csv"},
	},
	"account change": {
		{"another plan", "addrspec account change --account jane@example.org --plan pro"},
		{"a hard limit of points in place of the plan's", "addrspec account change --account jane@example.org --points 20000 --no-overage"},
		{"let the owner manage all accounts", "addrspec account change --account jane@example.org --operator"},
	},
	"account link": {
		{"a link for the first sign-in", "addrspec account link --account jane@example.org --public-url https://addrspec.example"},
	},
	"account suspend": {{"refuse all keys of an account", "addrspec account suspend --account jane@example.org"}},
	"account resume":  {{"accept them again", "addrspec account resume --account jane@example.org"}},
	"account log":     {{"who changed what", "addrspec account log --account jane@example.org"}},
	"account webhook": {
		{"show the webhook and its latest messages", "addrspec account webhook --account jane@example.org"},
		{"set it and print its secret", "addrspec account webhook --account jane@example.org --set https://hooks.example/addrspec"},
		{"send a test message", "addrspec account webhook --account jane@example.org --test"},
	},
	"account sign-out": {{"end all sessions of the owner", "addrspec account sign-out --account jane@example.org"}},
	"account delete": {
		{"delete after a question", "addrspec account delete --account jane@example.org"},
		{"delete without one", "addrspec account delete --account shop@example.org --yes"},
	},
	"key create": {
		{"a key for a server", "addrspec key create --account jane@example.org --name shop"},
		{"a key for a web page, for 90 days, with limits of its own", "addrspec key create --account jane@example.org --name page --expires 90d --budget 500 --rate 2 --origin https://shop.example"},
	},
	"key list": {
		{"an account's keys, with last use and expiry", "addrspec key list --account jane@example.org"},
		{"the revoked ones too, a JSON object a line", "addrspec key list --account jane@example.org --all --to ndjson"},
	},
	"key change": {
		{"another name and no expiry", "addrspec key change 2 --account jane@example.org --name landing-page --expires never"},
		{"a policy for its requests", "addrspec key change 2 --account jane@example.org --policy sign-up"},
		{"only the account's limits", "addrspec key change 2 --account jane@example.org --budget none --rate none"},
	},
	"key rotate": {
		{"a new secret; the old one is valid for a day", "addrspec key rotate 1 --account jane@example.org"},
		{"the old one has leaked", "addrspec key rotate 1 --account jane@example.org --grace 0s"},
	},
	"key revoke": {{"refuse a key from now on", "addrspec key revoke 2 --account jane@example.org"}},
	"policy set": {
		{"a policy of a file", "addrspec policy set sign-up policy.json --account jane@example.org"},
		{"the same for another purpose", "addrspec policy set newsletter policy.json --account jane@example.org"},
	},
	"policy list":   {{"an account's policies", "addrspec policy list --account jane@example.org"}},
	"policy show":   {{"the document, to edit it", "addrspec policy show sign-up --account jane@example.org"}},
	"policy delete": {{"one that no key has by default", "addrspec policy delete newsletter --account jane@example.org"}},
	"plan list":     {{"all plans", "addrspec plan list"}},
	"plan load":     {{"add or change the plans of a file", "addrspec plan load plans.json"}},
	"usage": {
		{"this month, all accounts", "addrspec usage"},
		{"one account in a month that is over, for a spreadsheet", "addrspec usage --account jane@example.org --first 2026-10-01 --last 2026-10-31 --to csv"},
	},
	"lists show": {
		{"the lists in the program", "addrspec lists show"},
		{"those of a file, for a program", "addrspec lists show --lists lists.blob --to json"},
	},
	"lists why": {
		{"why a domain is called disposable", "addrspec lists why yopmail.com"},
		{"with corrections of your own, for a program", "addrspec lists why mailinator.com gmail.com --lists-extra extra.txt --to json"},
	},
	"lists update": {{"fetch newer lists of a feed, by cron", "addrspec lists update --from https://lists.example/lists/ --lists-key lists.pub --lists lists.blob"}},
	"lists verify": {{"verify a file and the signature beside it", "addrspec lists verify lists.blob --lists-key lists.pub"}},
	"lists keygen": {{"make lists.key and lists.pub", "addrspec lists keygen lists.key"}},

	"backup":  {{"copy the database while the service runs", "addrspec backup /var/backups/addrspec.db --force --database sqlite:/var/lib/addrspec/addrspec.db"}},
	"restore": {{"put a backup in its place, with the service stopped", "addrspec restore /var/backups/addrspec.db --force --database sqlite:/var/lib/addrspec/addrspec.db"}},
	"export":  {{"write the whole ledger as text", "addrspec export ledger.ndjson.gz --database sqlite:/var/lib/addrspec/addrspec.db"}},
	"import":  {{"read it into PostgreSQL", "addrspec import ledger.ndjson.gz --database postgres://addrspec@db.example/addrspec"}},

	"completion": {
		{"bash, for you", "addrspec completion bash > ~/.local/share/bash-completion/completions/addrspec"},
		{"zsh, in a directory of $fpath", "addrspec completion zsh > ~/.zfunc/_addrspec"},
		{"fish", "addrspec completion fish > ~/.config/fish/completions/addrspec.fish"},
	},
	"man": {
		{"read it", "addrspec man | man -l -"},
		{"install it", "addrspec man > /usr/local/share/man/man1/addrspec.1"},
	},
	"version": {
		{"what determines results", "addrspec version"},
		{"for a program", "addrspec version --to json"},
	},
	"help": {{"the help of a command", "addrspec help key create"}},
}
