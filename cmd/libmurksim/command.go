package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/murksim/murksim/cli"
	"github.com/murksim/murksim/fields"
)

// callCommand runs a command line. Its error is that of the context.
func callCommand(ctx context.Context, args []string) (exitStatus int, output, errors text, err error) {
	var out, errs bytes.Buffer
	exitStatus = cli.Program{}.Call(ctx, args, strings.NewReader(""), &out, &errs)
	return exitStatus, out.Bytes(), errs.Bytes(), ctx.Err()
}

// aboutScenario describes a scenario.
func aboutScenario(name string, sets []string) (text, error) {
	s, err := cli.Program{}.Scenario(name, sets, 1<<62)
	if err != nil {
		return nil, err
	}
	defs := make([]fields.Def, 0, len(s.Fields))
	for i := range s.Fields {
		defs = append(defs, s.Fields[i].Def())
	}
	a, err := aboutWorld(s, defs)
	if err != nil {
		return nil, err
	}
	return a.text()
}
