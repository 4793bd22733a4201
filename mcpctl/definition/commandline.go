package definition

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// maxWords is how many words of a command line may be names of files, maxModuleWords how many where each may be several
// files.
const maxWords, maxModuleWords = 1000, 200

// named returns the files and folders of the project that the command line of a definition names.
func (f FileHasher) named(d Definition) ([]named, error) {
	if len(f.Roots) == 0 {
		return nil, nil
	}
	var words []string
	for _, part := range append([]string{d.Command, d.Helper}, d.Args...) {
		words = append(words, wordsOf(f.expanded(d, part))...)
	}
	packages, modules := slices.ContainsFunc(words, runsPackages), slices.ContainsFunc(words, loadsModules)
	limit := maxWords
	if packages || modules {
		limit = maxModuleWords
	}
	if len(words) > limit {
		return nil, fmt.Errorf("a command line of more than %d words", limit)
	}
	dir := f.dir(d)
	var paths []string
	for _, word := range words {
		names := f.candidates(word, dir)
		if modules {
			names = withModules(names)
		}
		if packages {
			names = append(names, f.installed(word, dir)...)
		}
		paths = append(paths, names...)
	}
	for _, command := range []string{d.Command, first(d.Helper)} {
		paths = append(paths, f.onPath(d, f.expanded(d, command), dir))
	}
	return f.lookAll(paths)
}

func first(command string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return word
}

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

// withModules adds what an interpreter may load for a path: "server" can be server.js, "pkg" pkg/__main__.py.
func withModules(paths []string) []string {
	out := slices.Clone(paths)
	for _, path := range paths {
		modules := []string{path}
		if base := filepath.Base(path); strings.Contains(base, ".") { // python -m a.b
			modules = append(modules, filepath.Join(filepath.Dir(path), strings.ReplaceAll(base, ".", "/")))
		}
		for _, module := range modules {
			for _, end := range []string{".js", ".mjs", ".cjs", ".ts", ".json", ".node", ".py", "/package.json", "/index.js",
				"/index.ts", "/__main__.py", "/__init__.py"} {
				out = append(out, module+end)
			}
		}
	}
	return out
}

// runsPackages reports whether a command prefers what a project has installed.
func runsPackages(command string) bool {
	switch filepath.Base(command) {
	case "npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "bun":
		return true
	}
	return false
}

// installed returns where a project has a package, or a program of one, of this name.
func (f FileHasher) installed(word, dir string) []string {
	name := word
	if at := strings.LastIndex(word, "@"); at > 0 {
		name = word[:at]
	}
	if name == "" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") || strings.Contains(name, "..") {
		return nil
	}
	var paths []string
	for _, base := range []string{dir, f.root()} {
		modules := filepath.Join(base, "node_modules")
		paths = append(paths, filepath.Join(modules, ".bin", filepath.Base(name)), filepath.Join(modules, name, "package.json"))
		if dir == f.root() {
			break
		}
	}
	return paths
}

// wordsOf returns an argument, and the pieces of it that may be paths: "--config=x", "sh -c 'x && y'", "a:b".
func wordsOf(arg string) []string {
	pieces := strings.FieldsFunc(arg, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("=,:;&|()<>\"'`", r)
	})
	if len(pieces) == 1 && pieces[0] == arg {
		return pieces
	}
	return append([]string{arg}, pieces...)
}

// candidates returns where a word may lead.
func (f FileHasher) candidates(word, dir string) []string {
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		home, _ := f.lookup("HOME")
		return []string{filepath.Join(home, rest)}
	}
	switch {
	case word == "" || len(word) > 4096 || strings.ContainsRune(word, 0):
		return nil
	case filepath.IsAbs(word):
		return []string{filepath.Clean(word)}
	case dir == f.root():
		return []string{filepath.Join(dir, word)}
	}
	return []string{filepath.Join(dir, word), filepath.Join(f.root(), word)}
}

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
		if file := filepath.Join(folder, command); executable(file) {
			return file
		}
	}
	return ""
}
