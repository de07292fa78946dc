package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/addrspec/addrspec/core/idna"
)

// versionCmd prints the versions that determine results, to compare deployments.
type versionCmd struct {
	moduleFlags
	To string `enum:"text,json" default:"text" help:"Output format: text or json (one object)."`
}

// shownVersions are what --to json prints.
type shownVersions struct {
	Release string `json:"release"`
	Go      string `json:"go"`
	Engine  string `json:"engine"`
	Lists   string `json:"lists"`
	Model   string `json:"model"`
	Unicode string `json:"unicode,omitempty"` // left out with --module, which does not name it
}

// Run prints a line for each version, of the lists of --lists if it is given. The
// first line is that of --version.
func (c *versionCmd) Run(ctx context.Context, std streams) error {
	engine, err := c.engine(ctx)
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	info := engine.View().Info()
	v := shownVersions{Release: release, Go: runtime.Version(), Engine: info.Engine, Lists: info.Lists, Model: info.Model}
	if c.Module == "" {
		v.Unicode = idna.UnicodeVersion
	}
	if c.To == "json" {
		encoder := json.NewEncoder(std.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v)
	}
	return v.print(std.out)
}

func (v *shownVersions) print(out io.Writer) error {
	lines := fmt.Sprintf("%s\nengine %s\nlists %s\nmodel %s\n", version(), v.Engine, v.Lists, v.Model)
	if v.Unicode != "" {
		lines += "unicode " + v.Unicode + "\n"
	}
	_, err := io.WriteString(out, lines)
	return err
}
