package hook

import (
	"os"
)

func init() {
	if event, ok := called(os.Args); ok && answerable(os.Getenv(AddressVariable)) {
		if err := Report(os.Getenv(AddressVariable), event, os.Stdin, os.Stdout); err != nil {
			_, _ = os.Stderr.WriteString("orchestrator hook: " + err.Error() + "\n") // never fails the agent's turn
		}
		os.Exit(0)
	}
}

// called returns the event if the command line is exactly `hook <event>`. The event must be safe to print.
func called(args []string) (event string, ok bool) {
	if len(args) != 3 || args[1] != "hook" || args[2] == "" || args[2][0] == '-' {
		return "", false
	}
	for i := range len(args[2]) {
		if !plain(args[2][i]) {
			return "", false
		}
	}
	return args[2], true
}

func answerable(base string) bool {
	_, err := parse(base)
	return err == nil
}
