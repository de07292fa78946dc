package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/addrspec/addrspec/origin/check/client"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/host"
)

// DecideBy makes the policy of --policy decide: with a name that of the account, at the
// service, else that in the file, here.
func DecideBy(ctx context.Context, policy string, engine func() (*host.Engine, error), checker *client.Checker) error {
	if policy == "" || book.CheckPolicyName(policy) == nil {
		checker.Policy = policy
		return nil
	}
	e, err := engine()
	if err != nil {
		return err
	}
	compiled, err := ReadPolicy(ctx, e, policy)
	checker.Decider = &pipeline.Local{View: e.View(), Policy: compiled}
	return err
}

// ReadPolicy returns the policy in a file, nil without one.
func ReadPolicy(ctx context.Context, engine *host.Engine, path string) (*host.Policy, error) {
	if path == "" {
		return nil, nil
	}
	document, err := service.ReadStart(path, MaxPolicyFile)
	if err != nil {
		return nil, fmt.Errorf("--policy: %w; only with --server, a name of a-z, 0-9, - and _ is a policy "+
			"of the account", err)
	}
	policy, err := CompilePolicy(ctx, engine, path, document)
	if err != nil {
		return nil, fmt.Errorf("--policy %w", err)
	}
	return policy, nil
}

// MaxPolicyFile is above the longest document of a policy, which the module refuses in its own words.
const MaxPolicyFile = 4 << 20

// CompilePolicy returns the policy of a document, or an error that names file, line and place.
func CompilePolicy(ctx context.Context, engine *host.Engine, file, document string) (*host.Policy, error) {
	policy, err := engine.NewPolicy(ctx, document)
	if refused, ok := errors.AsType[*host.PolicyError](err); ok {
		line, column := refused.Position(document)
		return nil, fmt.Errorf("%s:%d:%d: %s", file, line, column, refused.Sentence)
	}
	return policy, err
}
