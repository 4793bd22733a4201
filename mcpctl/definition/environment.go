package definition

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// BaseEnv returns what a server gets of an environment without declaring it: where things are, the language and the
// time zone. Keys, tokens and our own variables are not among it.
func BaseEnv(environ []string) []string {
	var out []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TMPDIR", "TZ":
		default:
			if !strings.HasPrefix(name, "LC_") && !slices.Contains(baseFolders(), name) {
				continue
			}
		}
		out = append(out, entry)
	}
	return out
}

// baseFolders are the variables of the XDG specification: any other name that begins so may be anything.
func baseFolders() []string {
	return []string{"XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME",
		"XDG_RUNTIME_DIR", "XDG_STATE_HOME"}
}

// Missing says in a sentence that the command of a server is not there, for an environment (KEY=VALUE); it is empty if
// it is, or if only an expansion can tell.
func Missing(d Definition, env []string) string {
	if d.Transport != Stdio || d.Command == "" {
		return ""
	}
	lookup := func(name string) (string, bool) {
		for _, entry := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
	e := expansion{syntax: d.syntax(), lookup: lookup}
	command, err := e.expand(d.Command)
	if err != nil {
		return ""
	}
	if strings.Contains(command, "/") {
		if !filepath.IsAbs(command) {
			if d.Dir == "" {
				return "" // it depends on the folder of the thread
			}
			command = filepath.Join(d.Dir, command)
		}
		if !executable(command) {
			return fmt.Sprintf("%s is not a program", d.Command)
		}
		return ""
	}
	path, _ := lookup("PATH")
	for _, dir := range filepath.SplitList(path) {
		if executable(filepath.Join(dir, command)) {
			return ""
		}
	}
	return fmt.Sprintf("%s is not on PATH", d.Command)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
