// Package e2e calls the assembled program as people, scripts and agents do: each test has a home and a repository of
// its own on this machine. The tests lie by subject in the folders below.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"orchestrator/agent/session"
	"orchestrator/mcpctl/mcptest"
)

// Mode is what a test program does instead of its tests where a variable of the environment is set.
type Mode struct {
	Variable string
	Run      func(value string) (code int)
}

// TestMain builds the program and runs a package's tests; what it returns is the code to exit with.
func TestMain(m *testing.M, modes ...Mode) int {
	mcptest.Main()
	for _, mode := range append(modes, Mode{CallsName, makeCalls}) {
		if value := os.Getenv(mode.Variable); value != "" {
			return mode.Run(value)
		}
	}
	if below, err := session.Below(os.Environ()); below || err != nil {
		fmt.Fprintf(os.Stderr, "these tests act for a person, and this runs below an agent of orchestrator (%v): run them elsewhere\n", err)
		return 1
	}
	var err error
	if Program, err = buildOnce(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		// Most of a test's time passes in processes that wait for one another.
		if err := f.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := m.Run()
	if err := Database.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
