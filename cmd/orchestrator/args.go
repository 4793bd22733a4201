package main

import (
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/edition"
)

// exactly checks the number of arguments and says what they are.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return usagef("expected %s, got %d argument(s)", strings.Join(names, " "), len(args))
		}
		return nil
	}
}

// between checks the number of arguments where some may be left out, and says what they are.
func between(least, most int, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("expected %s, got %d argument(s)", strings.Join(names, " "), len(args))
		}
		return nil
	}
}

// split divides a verb's words from those after --.
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

// noVerb refuses words that are no verb, with the ones that come near.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(args[0])
	switch {
	case len(near) > 0:
		return usagef("there is no verb %q; near: %s", args[0], strings.Join(near, ", "))
	case cmd.HasParent():
		return usagef("there is no verb %q; expected %s", args[0], belowOf(cmd))
	default:
		return usagef("there is no verb %q; `orchestrator --help` lists them", args[0])
	}
}

// belowOf lists the verbs below one.
func belowOf(cmd *cobra.Command) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, cmd.Name()+" "+sub.Name())
		}
	}
	return strings.Join(names, ", ")
}

// lookup returns a variable of an environment.
func lookup(environ []string, name string) string {
	value := ""
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// version is the program's.
func version() string { return edition.Version() }
