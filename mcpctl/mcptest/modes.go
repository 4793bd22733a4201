package mcptest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// The first arguments of a test binary that is to be the server, a process that the server starts, or one that starts
	// such a process and ends.
	serverArgument = "mcptest-server"
	childArgument  = "mcptest-child"
	strayArgument  = "mcptest-stray"
)

// modes are what a server was started with.
type modes map[string]string

func parse(args []string) modes {
	m := make(modes)
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		m[name] = value
	}
	return m
}

func (m modes) has(name string) bool {
	_, ok := m[name]
	return ok
}

func (m modes) number(name string) int {
	n, _ := strconv.Atoi(m[name]) // 0 if it is not set
	return n
}

func (m modes) duration(name string) time.Duration {
	d, _ := time.ParseDuration(m[name]) // 0 if it is not set
	return d
}

// note adds a line to the file of a mode.
func (m modes) note(name, line string) {
	path := m[name]
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, line); err != nil {
		panic(err)
	}
}
