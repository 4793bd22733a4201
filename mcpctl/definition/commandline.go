package definition

import (
	"path/filepath"
	"strings"

	"orchestrator/thread/ground/process"
)

// loadsModules reports whether a command loads files without their full names.
func loadsModules(command string) bool {
	name := filepath.Base(command)
	for _, begin := range []string{"node", "bun", "deno", "tsx", "ts-node", "python", "pypy", "uv"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// runsPackages reports whether a command prefers what a project has installed.
func runsPackages(command string) bool {
	switch filepath.Base(command) {
	case "npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "bun":
		return true
	}
	return false
}

// wordsOf returns an argument, and the pieces of it that may be paths: "--config=x", "sh -c 'x && y'", "a:b".
func wordsOf(arg string) []string {
	pieces := strings.FieldsFunc(arg, separates)
	if len(pieces) == 1 && pieces[0] == arg {
		return pieces
	}
	return append([]string{arg}, pieces...)
}

func separates(r rune) bool { return r <= ' ' || strings.ContainsRune("=,:;&|()<>\"'`", r) }

// onPath returns what a bare command is, or nothing.
func (f FileHasher) onPath(d Definition, command, dir string) string {
	if command == "" || strings.Contains(command, "/") {
		return ""
	}
	path, ok := d.Env["PATH"]
	if ok {
		path = f.expanded(d, path)
	} else {
		path, _ = f.lookup("PATH")
	}
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		if file := filepath.Join(folder, command); process.Executable(file) {
			return file
		}
	}
	return ""
}
