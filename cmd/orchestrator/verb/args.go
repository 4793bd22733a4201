package verb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
	"orchestrator/thread/ground/when"
	"orchestrator/ui/plain"
)

// exactly requires these arguments.
func exactly(names ...string) cobra.PositionalArgs { return between(len(names), len(names), names...) }

// between requires a number of these arguments, of which the last ones are optional.
func between(least, most int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("%s", wrongNumber(cmd, args, least, names))
		}
		return nil
	}
}

// wrongNumber returns which argument is missing, or what a verb takes instead of what it got, with a call that is right.
func wrongNumber(cmd *cobra.Command, args []string, least int, names []string) string {
	right := cmd.CommandPath()
	for _, name := range names[:least] {
		right += " " + sample(name)
	}
	if cmd.Example != "" && !strings.Contains(cmd.Example, "\n") {
		right = cmd.Example
	}
	verb := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if len(args) < least {
		return fmt.Sprintf("%s needs %s: %s", verb, bare(names[len(args)]), right)
	}
	if len(names) == 0 {
		return fmt.Sprintf("%s takes no argument: %s", verb, right)
	}
	takes := ""
	for i, name := range names {
		switch {
		case i == 0:
			takes = bare(name)
		case i < least:
			takes += " and " + bare(name)
		default:
			takes += ", or with it " + bare(name)
		}
	}
	text := fmt.Sprintf("%s takes %s, not %s: %s", verb, takes, plain.Count(len(args), "argument"), right)
	if slices.ContainsFunc(names, free) {
		text += ". Put text with spaces in quotes"
	}
	return text
}

// bare is an argument of a usage line in a sentence: "a thread" for <thread>, "one or more files" for <files...>.
func bare(name string) string {
	word := strings.Trim(name, "<>[]")
	switch {
	case strings.HasSuffix(word, "..."):
		return "one or more " + strings.TrimSuffix(strings.TrimSuffix(word, "..."), "s") + "s"
	case strings.HasSuffix(word, "s"):
		return word
	case strings.ContainsRune("aeiou", rune(word[0])):
		return "an " + word
	}
	return "a " + word
}

// sample is what a person may write for an argument of a usage line.
func sample(name string) string {
	word := strings.Trim(name, "<>[].")
	switch {
	case word == "token":
		return "max:a1b2c3d4"
	case free(name):
		return `"` + strings.ToUpper(word) + `"`
	}
	first, _, _ := strings.Cut(word, " ")
	return strings.ToUpper(first)
}

// free reports whether an argument is text of several words.
func free(name string) bool {
	return slices.Contains([]string{"text", "task", "label", "reason", "words", "name"}, strings.Trim(name, "<>[]"))
}

// flagError returns what is wrong with an option, and what to write instead.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &value):
		return usagef("--%s %s: %s", value.GetFlag().Name, value.GetValue(), valueFor(value))
	case errors.As(err, &missing):
		return usagef("--%s needs a value: %s --%s VALUE", missing.GetFlag().Name, cmd.CommandPath(), missing.GetFlag().Name)
	case errors.As(err, &unknown):
		var all []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
		name := unknown.GetSpecifiedName()
		as := "--" + name
		if unknown.GetSpecifiedShortnames() != "" {
			as = "-" + name
		}
		var meant []string
		for _, n := range all {
			if strings.HasSuffix(n, "-"+name) { // --type for --agent-type
				meant = append(meant, "--"+n)
			}
		}
		if len(meant) == 0 {
			for _, n := range near.Names(name, all) {
				meant = append(meant, "--"+n)
			}
		}
		return &usageError{err: thread.Hint(fmt.Errorf("no option %s", as),
			thread.Meant(meant, fmt.Sprintf("`%s --help` lists them", cmd.CommandPath())))}
	}
	return &usageError{err: err}
}

// valueFor says what the value of an option looks like.
func valueFor(wrong *pflag.InvalidValueError) string {
	switch wrong.GetFlag().Value.Type() {
	case timeType:
		return "use " + when.Forms
	case "duration":
		return "use a time such as 30m"
	case "int", "int64", "uint64", "count":
		return "use a whole number such as 20"
	case "bool":
		return "use true or false"
	case "float64":
		return "use a number such as 0.5"
	}
	return wrong.Unwrap().Error()
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
	all := "`orchestrator --help` lists all verbs"
	if cmd.HasParent() {
		all = "There are: " + belowOf(cmd)
	}
	return &usageError{err: thread.Hint(fmt.Errorf("unknown verb %q", args[0]), thread.Meant(nearVerbs(cmd, args[0]), all))}
}

// nearVerbs returns the verbs that a mistyped one may mean.
func nearVerbs(cmd *cobra.Command, name string) []string {
	var names []string
	of := map[string]string{}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		for _, n := range append([]string{sub.Name()}, append(sub.Aliases, sub.SuggestFor...)...) {
			names, of[n] = append(names, n), sub.Name()
		}
	}
	var found []string
	for _, n := range near.Names(name, names) {
		if !slices.Contains(found, of[n]) {
			found = append(found, of[n])
		}
	}
	return found
}

// belowOf lists a verb's subcommands: orchestrator checkpoint diff|list.
func belowOf(cmd *cobra.Command) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return cmd.CommandPath() + " " + strings.Join(names, "|")
}
