package verb

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// spelled has the flags of a verb also be called as instructions for agents call them: name by name, theirs and ours.
func spelled(cmd *cobra.Command, ours map[string]string) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if known := ours[name]; known != "" {
			name = known
		}
		return pflag.NormalizedName(name)
	})
}

// argOr returns what a verb is about: its argument, or what a flag says instead. Neither and both are errors.
func argOr(cmd *cobra.Command, args []string, flag, value string) (string, error) {
	switch {
	case len(args) > 0 && value != "":
		return "", usagef("%s: give it as an argument or with --%s, not both", cmd.CommandPath(), flag)
	case len(args) > 0:
		return args[0], nil
	case value != "":
		return value, nil
	default:
		right := strings.TrimSpace(cmd.Example)
		if right == "" || strings.Contains(right, "\n") || !strings.HasPrefix(right, cmd.CommandPath()) {
			right = fmt.Sprintf("%s --%s %s", cmd.CommandPath(), flag, strings.ToUpper(flag))
		}
		return "", usagef("%s needs --%s, or its value as an argument: %s", cmd.CommandPath()[len(cmd.Root().Name())+1:], flag, right)
	}
}
