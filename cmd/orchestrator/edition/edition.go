// Package edition knows which version of the program this is, and says so before the rest of the program has begun.
//
// Like package hook it answers while packages are initialised, for it needs so little that it is ready before the command
// line's, the screen's and the network's. What the shortcut does not know, flags and help, is left to the verb `version`.
package edition

import (
	"os"
	"runtime/debug"
)

func init() {
	if len(os.Args) != 2 || os.Args[1] != "version" {
		return
	}
	if v := Version(); printable(v) {
		_, _ = os.Stdout.WriteString("orchestrator " + v + "\n")
		os.Exit(0)
	}
}

// printable reports whether a text may be printed as it is.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Version is the program's, from its build information.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") && len(s.Value) >= 12 {
			v = "devel-" + s.Value[:12]
		}
	}
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	return v
}
