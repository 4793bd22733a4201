// Package buildinfo returns the version of the program, and prints it before the rest of the program is initialised.
//
// Like package hook it does so during package initialisation: it has so few dependencies that it is initialised before
// the packages of the command line, the screen and the network. It leaves flags and help to the verb `version`.
package buildinfo

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

// printable reports whether a text is safe to print.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Version returns the program's version, from its build information.
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
