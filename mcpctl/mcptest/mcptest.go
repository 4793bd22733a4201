// Package mcptest is an MCP server for tests, with the faults that servers have.
package mcptest

import "os"

// argument is the first argument of a test binary that is to be the server.
const argument = "mcptest-server"

// Main is called first in TestMain: it does not return if this process is to be the server.
func Main() {
	if len(os.Args) > 1 && os.Args[1] == argument {
		os.Exit(1)
	}
}

// Command returns how the server is started with some modes, each "name" or "name=value". The test binary must call Main.
func Command(mode ...string) (cmd string, args, env []string) {
	self, err := os.Executable()
	if err != nil {
		panic(err) // a test cannot go on
	}
	return self, append([]string{argument}, mode...), nil
}
