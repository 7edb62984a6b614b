package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/ops"
)

// drawnPrefix begins a GRAPH that is generated in memory in place of a file.
const drawnPrefix = "generate:"

// isDrawn reports whether the argument is a generated graph.
func isDrawn(file string) bool { return strings.HasPrefix(file, drawnPrefix) }

// drawnFlags parses generate:KIND,flag=value,flag with the flags of hiveblas generate.
func (j *job) drawnFlags(spec string) (kind string, f generateFlags, err error) {
	bad := func(what string) error {
		return cli.Usage(j.cmd.CommandPath(), spec+": "+what+"; a generated graph is such as "+drawnPrefix+"rmat,scale=20,edges=16777216,undirected")
	}
	var name, value string
	fs := pflag.NewFlagSet("generate", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	f.add(fs)
	parts := strings.Split(strings.TrimPrefix(spec, drawnPrefix), ",")
	kind = parts[0]
	for _, part := range parts[1:] {
		var has bool
		name, value, has = strings.Cut(part, "=")
		flag := fs.Lookup(name)
		switch {
		case flag == nil:
			return kind, f, bad(fmt.Sprintf("%q is no flag of hiveblas generate %s", name, kind))
		case flag.Changed:
			return kind, f, bad(name + " is given twice")
		case !has && flag.NoOptDefVal == "":
			return kind, f, bad(name + " wants a value, " + name + "=…")
		case !has:
			value = flag.NoOptDefVal
		}
		if err := fs.Set(name, value); err != nil {
			return kind, f, bad(fmt.Sprintf("%s is %q, want a value of type %s", name, value, flag.Value.Type()))
		}
	}
	if err := f.check(kind, "", fs); err != nil {
		return kind, f, bad(err.Error())
	}
	return kind, f, nil
}

// drawn makes a generated graph, where the command computes if that is known.
func (j *job) drawn(spec string, what content) (*graph, error) {
	kind, f, err := j.drawnFlags(spec)
	if err != nil {
		return nil, err
	}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(readFlags).flags(all)
	all.VisitAll(func(flag *pflag.Flag) {
		if err == nil && j.inputs == 1 && j.cmd.Flags().Changed(flag.Name) {
			err = cli.Usage(j.cmd.CommandPath(), fmt.Sprintf("--%s is for files, and %s is generated; leave it out", flag.Name, spec))
		}
	})
	if err != nil {
		return nil, err
	}
	g, err := f.graph(kind)
	if err != nil {
		return nil, cli.Usage(j.cmd.CommandPath(), spec+": "+strings.TrimPrefix(err.Error(), "generate."))
	}
	if err := j.canDraw(spec, g.Edges(), f.undirected); err != nil {
		return nil, err
	}
	opts := []generate.MatrixOption{generate.WithContext(j.Ctx)}
	if f.undirected {
		opts = append(opts, generate.Undirected())
	}
	if f.simple {
		opts = append(opts, generate.Simple())
	}
	switch {
	case j.group != nil && !j.whole:
		opts = append(opts, generate.On(j.group))
	case j.device != nil:
		opts = append(opts, generate.On(j.device))
	}
	out := &graph{file: spec, bipartite: kind == "bipartite", info: graphio.Info{Layout: "generated " + kind, Field: "pattern"}}
	if out.Matrix, err = generate.Matrix[float64](g, opts...); err != nil {
		return nil, explain(spec, err)
	}
	if f.maxWeight > 0 {
		out.info.Field = "integer"
	}
	if f.maxWeight > 0 && what == weighted {
		err = ops.ApplyIndex(out.Matrix, weights[float64, float64](&f), out.Matrix, ops.WithContext(j.Ctx), ops.WithThreads(j.run.threads))
		if f.undirected && err == nil {
			access.MarkSymmetric(out.Matrix)
		}
	}
	return out, explain(spec, err)
}
