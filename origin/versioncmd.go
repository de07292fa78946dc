package main

import (
	"context"
	"fmt"
)

// versionCmd prints the versions that determine results, to compare deployments.
type versionCmd struct{ moduleFlags }

// Run prints a line for each version, of the lists of --lists if it is given.
func (c *versionCmd) Run(ctx context.Context, std streams) error {
	engine, err := c.engine(ctx)
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	info := engine.View().Info()
	_, err = fmt.Fprintf(std.out, "%s\nengine %s\nlists %s\nmodel %s\n", version(), info.Engine, info.Lists, info.Model)
	return err
}
