package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/internal/atomicfile"
)

// manCommand writes the man pages; make man calls it.
func (s *Session) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write a man page for each command into a directory",
		Long: `man writes the page of this program and one for each command into a directory, which
it makes. make man calls it.`,
		Hidden: true,
		Args:   Positional("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return ExplainPath(args[0], err)
			}
			return ExplainPath(args[0], writeManPages(s, cmd.Root(), args[0]))
		},
	}
}

// writeManPages writes the pages of a command and of its subcommands.
func writeManPages(s *Session, cmd *cobra.Command, dir string) error {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := writeManPages(s, sub, dir); err != nil {
				return err
			}
		}
	}
	path := filepath.Join(dir, manName(cmd)+".1")
	return atomicfile.WriteFile(s.Ctx, path, func(w io.Writer) error {
		_, err := io.WriteString(w, manPage(cmd))
		return err
	})
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the page of a command in the macros of man(7).
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	section := func(name string) { fmt.Fprintf(&b, ".SH %s\n", name) }
	fmt.Fprintf(&b, ".TH \"%s\" 1\n", strings.ToUpper(manName(cmd)))
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n", roff(cmd.UseLine()))
	section("DESCRIPTION")
	for paragraph := range strings.SplitSeq(cmd.Long, "\n\n") {
		fmt.Fprintf(&b, ".PP\n%s\n", roff(paragraph))
	}
	if cmd.HasAvailableSubCommands() {
		section("COMMANDS")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(manName(sub)), roff(sub.Short))
			}
		}
	}
	if cmd.HasAvailableFlags() {
		section("OPTIONS")
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			value, usage := pflag.UnquoteUsage(f)
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
				usage += fmt.Sprintf(" (default %s)", f.DefValue)
			}
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR \\fI%s\\fR\n%s\n", roff(name), roff(value), roff(usage))
		})
	}
	if cmd.Example != "" {
		section("EXAMPLES")
		fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(cmd.Example))
	}
	if cmd.HasParent() {
		section("SEE ALSO")
		fmt.Fprintf(&b, ".BR %s (1)\n", roff(manName(cmd.Parent())))
	}
	return b.String()
}

// roff escapes text: backslashes, minus signs, and marks that begin a request at the start of a
// line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for k, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[k] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
