// Command orchestrator runs coding agents in threads that can be forked, resumed and merged: a
// terminal program, the server behind it, and verbs for scripts.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
