// Command orchestrator runs coding agents in threads that can be forked, resumed and merged: a
// terminal program, the server behind it, and verbs for scripts.
package main

import (
	"os"
	"strings"

	"orchestrator/cmd/orchestrator/verb"
	"orchestrator/thread/failpoint"
)

func main() {
	failpoint.Main()
	stderr := os.Stderr
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__complete") {
		os.Stderr = nil // cobra writes completion errors there directly, bypassing the sanitising writer
	}
	os.Exit(verb.Run(os.Args[1:], os.Stdin, os.Stdout, stderr, os.Environ()))
}
