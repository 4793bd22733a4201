// Package mcptest is an MCP server for tests, with the faults that servers have.
//
// It runs as the test binary itself, started once more. Its modes are what is wrong with the whole server; its tools do
// what is wrong with one call.
package mcptest

import "os"

// Main is called first in TestMain: it does not return if this process is to be the server.
func Main() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case serverArgument:
		newServer(parse(os.Args[2:])).run()
		os.Exit(0)
	case childArgument:
		child()
	case strayArgument:
		leave(os.Args[2])
	}
}

// Command returns how the server is started with some modes, each "name" or "name=value". The test binary must call Main.
//
//	starts=FILE     a line with the pid for each start
//	witness=FILE    a line with the arguments for each call that is carried out
//	lists=FILE      a line for each page of tools that is listed
//	banner          prints lines on standard output that are no messages
//	garbage         prints bytes that are no text
//	giant=BYTES     prints one line of that length instead of a response to initialize
//	stderr=BYTES    prints that much on standard error
//	silent          answers nothing
//	crash           ends at once
//	brief           ends soon after it was listed
//	odd=KIND        writes its messages in a way of its own (see odd.go)
//	slow=DURATION   answers initialize later
//	stubborn        ignores SIGTERM and the end of its input
//	fork            starts such a child in its group and one in a session of its own; pids go to the starts file
//	bare            the child in its group has no environment
//	strays=COUNT    starts such children in sessions of their own, without an environment, whose parents have ended
//	twice           answers each call twice
//	modern          speaks 2026-07-28 only
//	rug             has another description of echo after the second call, and says so
//	tools=COUNT     lists so many more tools
//	pages=COUNT     lists so many tools a page
//	loop            its pages have no end
//	null            lists tools with schemas that are none
//	deep=DEPTH      lists a tool that is nested
//	names           lists tools whose names collide, are long or have dots
func Command(mode ...string) (cmd string, args, env []string) {
	self, err := os.Executable()
	if err != nil {
		panic(err) // a test cannot go on
	}
	// With the race detector, a process would wait for a second before it ends.
	return self, append([]string{serverArgument}, mode...), []string{"GORACE=atexit_sleep_ms=0"}
}
