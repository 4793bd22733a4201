package definition

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread/frozen"
)

// maxWords is how many words of a command line may be names of files, maxModuleWords how many where each may be several
// files.
const maxWords, maxModuleWords = 1000, 200

// plan returns how a definition is started.
func (f FileHasher) plan(d Definition) (plan, error) {
	d = d.withContents(f.lookup)
	dir := f.dir(d)
	p := &planner{FileHasher: f, d: d, scanned: map[string]bool{}, words: map[string]bool{},
		plan: plan{dir: dir, contents: d.contents, leads: map[string]string{}, path: map[string]string{}, data: map[int]string{}}}
	if d.EnvFile != "" {
		p.plan.env = readVariables(f.expanded(d, d.EnvFile))
	}
	if len(f.Roots) == 0 {
		return p.plan, nil
	}
	at, ok := f.locate(dir)
	if p.base = at.root; !ok {
		p.base, _ = resolve(f.root())
	}
	p.collect = frozen.NewCollector(p.base, f.writable(), f.Sums)
	for _, root := range f.Roots[1:] {
		if real, err := resolve(root); err == nil && real != p.base {
			p.collect.Mount(real, "") // files of other worktrees have the same places
		}
	}
	p.collect.Mount(p.base, "")
	p.commandLine()
	if p.err == nil {
		p.plan.entries = p.collect.Entries()
		for rel, to := range p.collect.Out {
			p.plan.out = append(p.plan.out, rel+" → "+to)
		}
		slices.Sort(p.plan.out)
	}
	if errors.Is(p.err, frozen.ErrTooLarge) {
		return p.plan, fmt.Errorf("what it loads from the project cannot be copied, so it is not started: %w; move the server into "+
			"a folder of its own, or configure it in your own file with a path outside of the project", p.err)
	}
	return p.plan, p.err
}

// commandLine looks at all words.
func (p *planner) commandLine() {
	d := p.d
	command := p.expanded(d, d.Command)
	var args []string
	for _, a := range d.Args {
		args = append(args, p.expanded(d, a))
	}
	helper := p.expanded(d, d.Helper)
	var words []string
	for _, part := range append([]string{command, helper}, args...) {
		words = append(words, wordsOf(part)...)
	}
	if limit := p.limit(words); len(words) > limit {
		p.err = fmt.Errorf("a command line of more than %d words", limit)
		return
	}
	p.variables = p.environ()
	p.plan.program = p.onPath(d, command, p.plan.dir)
	if p.plan.program != "" {
		p.word(p.plan.program)
	}
	p.plan.manner = p.mannerOf(command, args)
	if helper != "" {
		p.plan.manner = around
		if first, _, _ := strings.Cut(strings.TrimSpace(helper), " "); first != "" {
			if found := p.onPath(d, first, p.plan.dir); found != "" {
				p.word(found)
			}
		}
	}
	for i, word := range words {
		p.candidates(word, i == 0)
	}
	if d.EnvFile != "" {
		if at, ok := p.locate(p.expanded(d, d.EnvFile)); ok {
			p.fail(p.collect.Add(at.add))
		}
	}
	for _, name := range d.Options.Files {
		if at, ok := p.locate(filepath.Join(p.base, name)); ok && at.rel != "." {
			p.fail(p.collect.Add(at.add))
			p.scan(at)
		}
	}
	texts := append([]string{command, helper}, args...)
	for _, name := range slices.Sorted(maps.Keys(p.variables)) {
		p.variable(name, p.variables[name])
		texts = append(texts, p.variables[name])
	}
	if p.plan.manner != direct && !p.elsewhere(append([]string{command}, args...)) {
		for _, word := range words {
			p.settings(nameOf(word))
		}
	}
	if slices.ContainsFunc(words, runsPackages) {
		for _, word := range words {
			p.installed(word)
		}
	}
	if p.err == nil {
		p.plan.inside = p.plan.manner == around
		p.settle(command, args, texts)
	}
}

func (p *planner) limit(words []string) int {
	if slices.ContainsFunc(words, runsPackages) || slices.ContainsFunc(words, loadsModules) {
		return maxModuleWords
	}
	return maxWords
}

// mannerOf returns how a command line finds what it loads.
func (p *planner) mannerOf(command string, args []string) manner {
	name := nameOf(command)
	file := p.plan.program
	if strings.Contains(command, "/") {
		file = p.absolute(command)
	}
	if file != "" {
		if _, ok := p.locate(file); ok { // a file of the project: its interpreter decides
			if by, _ := shebang(file); by != "" {
				if looksAround(by) || !interprets(by) {
					return around
				}
				return direct
			}
			if !looksAround(name) && !interprets(name) {
				return direct
			}
		}
	}
	for variable, value := range p.variables {
		if loads(variable) && !p.certain(value) {
			return around
		}
	}
	switch {
	case name == "npx":
		return p.ofNpx(args)
	case name == "uvx":
		return p.ofUvx(args)
	case looksAround(name):
		return around
	case interprets(name):
		p.module = name == "python" || name == "pypy"
		for _, a := range args {
			if !strings.HasPrefix(a, "-") {
				if _, file := exists(p.absolute(a)); file {
					return direct
				}
				return around
			}
			if !quiet(name, a) {
				return around
			}
		}
		return around
	}
	return direct
}

// certain reports whether what a variable names is outside of the project, wherever a program is started.
func (p *planner) certain(value string) bool {
	for _, option := range strings.Fields(value) {
		if quiet("node", option) || strings.Contains(option, "://") && !strings.Contains(option, "file:") {
			continue
		}
		for _, word := range strings.FieldsFunc(option, func(r rune) bool { return strings.ContainsRune("=,:;\"'", r) }) {
			if strings.HasPrefix(word, "--") || strings.Trim(word, "0123456789") == "" || word == "true" || word == "false" {
				continue
			}
			if _, ok := p.locate(word); ok || !filepath.IsAbs(word) {
				return false
			}
		}
	}
	return true
}

// ofNpx returns how npx finds what it runs: a package that is known before, unless files of the project are named.
func (p *planner) ofNpx(args []string) manner {
	for i, a := range args {
		switch {
		case a == "-c" || a == "--call" || strings.HasPrefix(a, "--prefix") || a == "-C" || a == "--workspace" || a == "-w":
			return around
		case strings.HasPrefix(a, "-"):
			continue
		}
		if looksAround(nameOf(strings.TrimSuffix(a, "@latest"))) || strings.ContainsAny(a[:1], "./~") || strings.HasPrefix(a, "file:") {
			return around
		}
		for _, rest := range args[i+1:] {
			for _, word := range wordsOf(rest) {
				if _, file := exists(p.absolute(word)); file {
					if _, ok := p.locate(p.absolute(word)); ok {
						return around
					}
				}
			}
		}
		return packages
	}
	return around
}

// ofUvx returns how uvx finds what it runs: a package that is known before, unless an argument names what is in the
// project. It reads no settings of the folder in which it is started.
func (p *planner) ofUvx(args []string) manner {
	own := true // so far all arguments are for uvx itself
	for _, a := range args {
		for _, word := range wordsOf(a) {
			at, ok := p.locate(p.absolute(word))
			folder, file := exists(p.absolute(word))
			if ok && (file || folder && own && at.rel != "." && strings.Contains(word, "/")) {
				return around
			}
		}
		if own && (a == "--directory" || a == "--project" || strings.ContainsAny(a[:min(1, len(a))], "./~")) {
			return around
		}
		own = own && strings.HasPrefix(a, "-") || slices.Contains([]string{"--from", "--with", "--with-editable", "--python", "-p"}, a)
	}
	return direct
}

// candidates adds what a word may lead to.
func (p *planner) candidates(word string, command bool) {
	if word == "" || len(word) > 4096 || strings.ContainsRune(word, 0) || command && !strings.Contains(word, "/") {
		return
	}
	p.word(p.absolute(word))
	for _, name := range p.modules(word) {
		p.word(name)
	}
	if p.plan.manner == around && strings.ContainsAny(word, "*?[") {
		p.globbed(word)
	}
}

// globbed adds the folder in which a pattern of a shell begins.
func (p *planner) globbed(word string) {
	folder := word[:strings.IndexAny(word, "*?[")]
	folder = p.absolute(folder[:strings.LastIndex(folder, "/")+1])
	if at, ok := p.locate(folder); ok && at.rel != "." {
		p.fail(p.collect.Add(at.add))
		return
	}
	found, err := filepath.Glob(p.absolute(word))
	if err != nil {
		return
	}
	for _, path := range found[:min(len(found), maxWords)] {
		p.word(path)
	}
}

// word adds what a path leads to, if that is in the project: a file with the folder that it is in, unless that is the
// whole project; a folder if what is started may load from it.
func (p *planner) word(path string) {
	if p.err != nil {
		return
	}
	folder, file := exists(path)
	if !folder && !file {
		return
	}
	at, ok := p.locate(path)
	if !ok {
		return
	}
	rel := filepath.ToSlash(at.rel)
	if folder {
		switch {
		case at.rel == "." || p.plan.manner == direct && !p.runsFolder(path) || p.plan.manner == packages:
			if !slices.Contains(p.plan.folders, rel) {
				p.plan.folders = append(p.plan.folders, rel)
			}
			return
		}
		p.words[path] = true
		p.tree(at)
		return
	}
	p.words[path] = true
	p.file(at)
}

// runsFolder reports whether a folder is what an interpreter runs: "node ./server".
func (p *planner) runsFolder(path string) bool {
	return len(p.d.Args) > 0 && loadsModules(p.d.Command) && p.absolute(p.expanded(p.d, p.d.Args[0])) == path
}

// variable adds what a variable names.
func (p *planner) variable(name, value string) {
	for _, word := range wordsOf(value) {
		if loads(name) {
			for _, module := range p.modules(word) {
				p.word(module)
			}
		}
		path := p.absolute(word)
		folder, file := exists(path)
		at, ok := p.locate(path)
		switch {
		case !ok || !folder && !file:
		case file:
			p.word(path)
		case loads(name) && at.rel != ".":
			p.words[path] = true
			p.tree(at)
		case !slices.Contains(p.plan.folders, filepath.ToSlash(at.rel)):
			p.plan.folders = append(p.plan.folders, filepath.ToSlash(at.rel))
		}
	}
}

// elsewhere reports whether a command line names a folder outside of the project as the one to work in.
func (p *planner) elsewhere(args []string) bool {
	for i, a := range args {
		flag, value, ok := strings.Cut(a, "=")
		if !slices.Contains([]string{"--directory", "--prefix", "-C", "--project", "--cwd", "--dir", "--manifest-path", "--working-directory",
			"--justfile", "-f", "--file", "--config"}, flag) {
			continue
		}
		if !ok && i+1 < len(args) {
			value = args[i+1]
		}
		if _, inside := p.locate(value); filepath.IsAbs(value) && !inside {
			return true
		}
	}
	return false
}

// settings adds the files that a program reads where it is started, and above in the project.
func (p *planner) settings(program string) {
	names := settingsOf(program)
	if len(names) == 0 {
		return
	}
	at, ok := p.locate(p.plan.dir)
	if !ok {
		return
	}
	folders := []string{at.rel}
	for _, word := range p.plan.folders { // "npm --prefix sub"
		folders = append(folders, filepath.FromSlash(word))
	}
	for _, folder := range folders {
		for {
			for _, name := range names {
				p.own(at.root, filepath.Join(folder, name))
			}
			if folder == "." || folder == string(filepath.Separator) {
				break
			}
			folder = filepath.Dir(folder)
		}
	}
}

// installed adds where a project has a package, or a program of one, of this name: with all that is installed there.
func (p *planner) installed(word string) {
	name := word
	if at := strings.LastIndex(word, "@"); at > 0 {
		name = word[:at]
	}
	if name == "" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") || strings.Contains(name, "..") {
		return
	}
	at, ok := p.locate(p.plan.dir)
	if !ok {
		return
	}
	for folder := at.rel; ; folder = filepath.Dir(folder) {
		for _, root := range append([]string{at.root}, p.Roots...) {
			modules := filepath.Join(root, folder, "node_modules")
			for _, path := range []string{filepath.Join(modules, ".bin", filepath.Base(name)), filepath.Join(modules, name, "package.json")} {
				if _, file := exists(path); file {
					p.own(at.root, filepath.Join(folder, "node_modules"))
					p.own(at.root, filepath.Join(folder, "package.json"))
					return
				}
			}
		}
		if folder == "." {
			return
		}
	}
}

// modules returns what an interpreter may load for a word: "server" can be server.js, "pkg" pkg/__main__.py.
func (p *planner) modules(word string) []string {
	if !slices.ContainsFunc(append([]string{p.d.Command}, p.d.Args...), func(s string) bool {
		return slices.ContainsFunc(wordsOf(s), loadsModules)
	}) {
		return nil
	}
	path := p.absolute(word)
	modules := []string{path}
	if base := filepath.Base(path); strings.Contains(base, ".") { // python -m a.b
		modules = append(modules, filepath.Join(filepath.Dir(path), strings.ReplaceAll(base, ".", "/")))
	}
	var names []string
	for _, module := range modules {
		for _, end := range []string{".js", ".mjs", ".cjs", ".ts", ".json", ".node", ".py", "/package.json", "/index.js",
			"/index.ts", "/__main__.py", "/__init__.py"} {
			names = append(names, module+end)
		}
	}
	return names
}
