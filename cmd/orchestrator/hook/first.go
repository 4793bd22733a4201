package hook

import (
	"os"
)

func init() {
	if event, ok := called(os.Args); ok && answerable(os.Getenv(AddressVariable)) {
		if err := Report(os.Getenv(AddressVariable), event, os.Stdin); err != nil {
			_, _ = os.Stderr.WriteString("orchestrator hook: " + err.Error() + "\n") // it never fails the agent's turn
		}
		os.Exit(0)
	}
}

// called reports which event a command line names, where it is `hook <event>` and nothing else. The event is made of
// characters that may be printed as they are.
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
