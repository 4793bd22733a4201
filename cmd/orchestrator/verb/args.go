package verb

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/ui/plain"
)

// exactly requires these arguments.
func exactly(names ...string) cobra.PositionalArgs { return between(len(names), len(names), names...) }

// between requires a number of these arguments, of which the last ones are optional.
func between(least, most int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("expected %s, got %s; see `%s --help`",
				cmp.Or(strings.Join(names, " "), "no argument"), plain.Count(len(args), "argument"), cmd.CommandPath())
		}
		return nil
	}
}

// split splits a verb's arguments at --.
func split(cmd *cobra.Command, args []string) (words, rest []string) {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

func second(args []string) string {
	if len(args) > 1 {
		return args[1]
	}
	return ""
}

// noVerb refuses arguments that are not a verb, suggesting similar ones.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(args[0])
	switch {
	case len(near) > 0:
		return usagef("unknown verb %q; did you mean %s?", args[0], strings.Join(near, ", "))
	case cmd.HasParent():
		return usagef("unknown verb %q; expected %s", args[0], belowOf(cmd))
	default:
		return usagef("unknown verb %q; `orchestrator --help` lists all verbs", args[0])
	}
}

// belowOf lists a verb's subcommands.
func belowOf(cmd *cobra.Command) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, cmd.Name()+" "+sub.Name())
		}
	}
	return strings.Join(names, ", ")
}
