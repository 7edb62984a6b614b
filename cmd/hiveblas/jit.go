package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/jit"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/warm"
)

func jitCommand(s *job.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jit",
		Short: "Compile, list or remove GPU kernels of the cache",
		Long: `jit manages the cache of compiled GPU kernels. hiveblas compiles the kernel of an
operation, element type and GPU on first use and stores it in $HIVEBLAS_CACHE, by
default hiveblas/kernels in the user's cache folder.`,
		Args: cli.Positional(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(jitWarmCommand(s), jitListCommand(s), jitClearCommand(s))
	return cmd
}

func jitWarmCommand(s *job.Session) *cobra.Command {
	var arch string
	var all bool
	cmd := &cobra.Command{
		Use:   "warm",
		Short: "Compile the kernels of the commands in advance",
		Long: `warm compiles the kernels of the hiveblas commands, and with --all also those of
the workflows and common operations for float32, int32 and int64. It needs NVRTC,
but no GPU if --arch is given.`,
		Example: `  hiveblas jit warm
  hiveblas jit warm --arch sm_90 --all`,
		Args: cli.Positional(),
	}
	j := job.New(s, cmd)
	cmd.Flags().StringVar(&arch, "arch", "", "target architecture `SM`, such as sm_90 (default: that of the first GPU)")
	cmd.Flags().BoolVar(&all, "all", false, "more element types and operations")
	cli.Complete(cmd, "arch", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		props, err := propertiesOf(cmd, s.Machine, arch)
		if err != nil {
			return err
		}
		if err := j.Begin(); err != nil {
			return err
		}
		name := fmt.Sprintf("sm_%d%d", props.Major, props.Minor)
		cache := jit.Open("", name, driver.CompilerIdentity(), s.Machine.OpenCompiler)
		if cache.Dir() == "" {
			return cli.Fail("HIVEBLAS_CACHE", "kernels are not kept on the disk", "name a folder", nil)
		}
		if kept, err := cache.List(); err == nil && len(kept) == 0 { // the list takes seconds
			if _, err := s.Machine.OpenCompiler(); err != nil {
				return missingLibrary("compiling kernels", err)
			}
		}
		list, err := warm.Compositions(props, all)
		if err != nil {
			return err
		}
		err = j.Stage("compile", func() error {
			for k, c := range list {
				j.Progress.Update("compile for "+name, int64(k), int64(len(list)))
				if err := j.Ctx.Err(); err != nil {
					return err
				}
				if _, err := cache.Image(c.Source, c.Name); err != nil {
					return missingLibrary("compiling kernels", err)
				}
			}
			return cache.DiskError()
		})
		if err != nil {
			return err
		}
		did := cache.Stats()
		fields := []job.Field{{Key: "command", Label: "", Value: "jit warm"}, {Key: "arch", Label: "for", Value: name}, {Key: "kernels", Label: "kernels", Value: len(list)},
			{Key: "compiled", Label: "compiled now", Value: did.Compiled}, {Key: "dir", Label: "kept in", Value: cache.Dir()}, {Key: "seconds", Label: "seconds", Value: j.Took("compile")}}
		if j.Run.Json {
			return j.PrintJSON(fields)
		}
		return printTable(j, fields)
	}
	return cmd
}

var archText = regexp.MustCompile(`^sm_(\d+)(\d)$`)

// propertiesOf returns the properties of a typical GPU of an architecture, or of the
// first GPU.
func propertiesOf(cmd *cobra.Command, m *job.Machine, arch string) (driver.Properties, error) {
	if cmd.Flags().Changed("arch") {
		m := archText.FindStringSubmatch(arch)
		if m == nil {
			return driver.Properties{}, cli.Usage(cmd.CommandPath(), fmt.Sprintf("--arch is %q, want one such as sm_90", arch))
		}
		major, _ := strconv.Atoi(m[1])
		minor, _ := strconv.Atoi(m[2])
		if major < 5 || major > 99 {
			return driver.Properties{}, cli.Usage(cmd.CommandPath(), fmt.Sprintf("--arch is %q, want sm_50 or newer", arch))
		}
		return warm.Properties(major, minor), nil
	}
	d, err := m.OpenDriver()
	if err == nil {
		var n int
		if n, err = d.Devices(); err == nil && n == 0 {
			err = driver.ErrNoDevice
		}
	}
	if err != nil {
		return driver.Properties{}, cli.Fail("no GPU to compile for", err.Error(), "--arch sm_90 compiles for one that is not here", err)
	}
	return d.Describe(0)
}

// missingLibrary returns the error of a missing library.
func missingLibrary(what string, err error) error {
	var bad *driver.CompileError
	if errors.As(err, &bad) {
		return err
	}
	return cli.Fail(what, err.Error(), "", err)
}

func jitListCommand(s *job.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the kernels that are kept",
		Long:    `list names the kernels on the disk, the newest first, with architecture, size and compiler.`,
		Example: `  hiveblas jit list`,
		Args:    cli.Positional(),
	}
	j := job.New(s, cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := j.Begin(); err != nil {
			return err
		}
		cache := jit.Open("", "", "", nil)
		list, err := cache.List()
		if err != nil {
			return job.Explain(cache.Dir(), err)
		}
		var bytes int64
		rows := make([]job.Object, len(list))
		fields := []job.Field{}
		for k, e := range list {
			bytes += e.Bytes
			name := e.Name
			if e.Damaged != nil {
				name = e.Path + ": " + e.Damaged.Error()
			}
			rows[k] = job.Object{{Key: "name", Label: "", Value: name}, {Key: "arch", Label: "", Value: e.Arch}, {Key: "bytes", Label: "", Value: e.Bytes}, {Key: "compiler", Label: "", Value: e.Compiler}, {Key: "time", Label: "", Value: e.Time}}
			fields = append(fields, job.Field{Key: "", Label: e.Arch, Value: fmt.Sprintf("%7d  %s", e.Bytes, name)})
		}
		if j.Run.Json {
			return j.PrintJSON(job.Object{{Key: "command", Label: "", Value: "jit list"}, {Key: "dir", Label: "", Value: cache.Dir()}, {Key: "bytes", Label: "", Value: bytes}, {Key: "kernels", Label: "", Value: rows}})
		}
		return printTable(j, append(fields, job.Field{Key: "", Label: "in all", Value: fmt.Sprintf("%d kernels, %d bytes, in %s", len(list), bytes, cache.Dir())}))
	}
	return cmd
}

func jitClearCommand(s *job.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "clear",
		Short:   "Remove the kernels that are kept",
		Long:    `clear removes the compiled kernels from the disk, and no other file. They are made anew when they are needed.`,
		Example: `  hiveblas jit clear`,
		Args:    cli.Positional(),
	}
	j := job.New(s, cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := j.Begin(); err != nil {
			return err
		}
		cache := jit.Open("", "", "", nil)
		n, err := cache.Clear()
		if err != nil {
			return job.Explain(cache.Dir(), err)
		}
		fields := []job.Field{{Key: "command", Label: "", Value: "jit clear"}, {Key: "removed", Label: "removed", Value: n}, {Key: "dir", Label: "from", Value: cache.Dir()}}
		if j.Run.Json {
			return j.PrintJSON(fields)
		}
		return printTable(j, fields)
	}
	return cmd
}
