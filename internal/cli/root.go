package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Root completes the command of a program, which has its texts and its subcommands: streams,
// version, errors of usage with what was perhaps meant, completion, and a help command that also
// knows topics.
func (s *Session) Root(root *cobra.Command, topics map[string]func() error) *cobra.Command {
	version := versionFlag(root)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || *version {
			return nil
		}
		msg := fmt.Sprintf("unknown command %q", args[0])
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			msg += fmt.Sprintf(", did you mean %s?", strings.Join(near, " or "))
		}
		return Usage(cmd.CommandPath(), msg)
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if !*version {
			return cmd.Help()
		}
		_, err := fmt.Fprintf(s.Stdout, "%s %s, %s, %s/%s\n", cmd.Name(), Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}
	root.SetOut(s.Stdout)
	root.SetErr(s.Stderr)
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && topics[args[0]] != nil {
				return topics[args[0]]()
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return Usage(root.Name(), fmt.Sprintf("unknown command %q", strings.Join(args, " ")))
			}
			return about.Help()
		},
	})
	root.AddCommand(s.manCommand())
	strictCompletion(root)
	return root
}

// versionFlag adds the flag that cobra would add for a version. The one of cobra needs a template
// for the text, and a template makes the linker keep all exported methods of the program.
func versionFlag(root *cobra.Command) *bool {
	version := root.Flags().BoolP("version", "v", false, "version for "+root.Name())
	_ = root.Flags().SetAnnotation("version", cobra.FlagSetByCobraAnnotation, []string{"true"}) // ends a completion
	return version
}

// strictCompletion adds the completion command of cobra, with the usage errors of others.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil || cmd == root {
		return
	}
	var shells []string
	for _, shell := range cmd.Commands() {
		shell.Args = Positional()
		shells = append(shells, shell.Name())
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return Usage(cmd.CommandPath(), fmt.Sprintf("unknown shell %q, want %s", args[0], strings.Join(shells, ", ")))
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// Positional requires exactly the named arguments.
func Positional(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return Usage(cmd.CommandPath(), names[len(args)]+" is missing")
		case len(args) > len(names):
			return Usage(cmd.CommandPath(), fmt.Sprintf("unexpected argument %q", args[len(names)]))
		}
		return nil
	}
}

// Version returns the version of the module and the revision of the source from
// which the program was built, as far as they are known.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown version)"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	v, revision, changes := info.Main.Version, "", ""
	if v == "" {
		v = "(devel)"
	}
	for _, kv := range info.Settings {
		switch {
		case kv.Key == "vcs.revision":
			revision = kv.Value[:min(12, len(kv.Value))]
		case kv.Key == "vcs.modified" && kv.Value == "true":
			changes = " with local changes"
		}
	}
	if revision == "" {
		return v
	}
	return fmt.Sprintf("%s, revision %s%s", v, revision, changes)
}
