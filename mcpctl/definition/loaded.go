package definition

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread/pattern"
)

// scan looks in the texts of a file or folder for what they load from elsewhere in the project, and adds that. It is a
// search for names: what it does not find is not in the copy, so that the server fails and says so.
func (p *planner) scan(at located) {
	if _, ok := dependencies(at.root, filepath.Join(at.rel, "x")); ok && at.rel != "." {
		return
	}
	top := filepath.Join(at.root, at.rel)
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error { // what cannot be read fails elsewhere
		switch {
		case err != nil || p.err != nil:
			return fs.SkipAll
		case d.IsDir() && (d.Name() == ".git" || path != top && installs(d.Name(), path)):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if rel, err := filepath.Rel(at.root, path); err == nil && !p.scanned[path] {
			p.scanned[path] = true
			p.text(at.root, rel)
		}
		return nil
	})
	p.upward(at)
}

// upward adds the packages that Node.js finds for files of a folder, in it and above.
func (p *planner) upward(at located) {
	switch filepath.Ext(at.rel) {
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx":
	default:
		if !p.holdsScripts(at) {
			return
		}
	}
	for folder := filepath.Dir(filepath.Join(at.rel, "x")); ; folder = filepath.Dir(folder) {
		key := "^" + filepath.Join(at.root, folder)
		if !p.scanned[key] {
			p.scanned[key] = true
			p.own(at.root, filepath.Join(folder, "node_modules"))
			path := filepath.Join(folder, "package.json")
			if p.plan.manner != around {
				p.scanned[filepath.Join(at.root, path)] = true // it says how files are read; what else it names is not loaded
			}
			p.own(at.root, path)
		}
		if folder == "." || folder == string(filepath.Separator) {
			return
		}
	}
}

// holdsScripts reports whether JavaScript lies directly in a folder.
func (p *planner) holdsScripts(at located) bool {
	list, err := os.ReadDir(filepath.Join(at.root, at.rel))
	return err == nil && slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		return slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"}, filepath.Ext(e.Name()))
	})
}

var (
	pythonImport = pattern.Lazy(`(?m)^[ \t]*(?:from|import)[ \t]+([\w. \t,]+)`)
	quoted       = pattern.Lazy("[\"'`]([^\"'`\\s]{1,200})[\"'`]")
	token        = pattern.Lazy(`[\w@][\w@./+-]*|\.{1,2}/[\w@./+-]+`)
)

// text looks in one file.
func (p *planner) text(root, rel string) {
	path := filepath.Join(root, rel)
	content := textOf(path)
	if content == nil {
		return
	}
	folder := filepath.Dir(rel)
	from := []string{folder}
	start, inside := p.locate(p.plan.dir)
	if p.plan.manner == around && inside {
		from = append(from, start.rel)
	}
	switch filepath.Ext(rel) {
	case ".py", ".pyi", ".pyw":
		for _, m := range pythonImport().FindAllSubmatch(content, -1) {
			for _, name := range strings.Split(string(m[1]), ",") {
				if words := strings.Fields(name); len(words) > 0 {
					p.pythonModule(root, from, words[0])
				}
			}
		}
		p.quoted(root, from, content, "")
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".rb", ".pl", ".pm", ".php", ".lua":
		p.quoted(root, from, content, "")
	case ".go":
		p.quoted(root, from, content, goModule(root))
	case ".toml", ".cfg", ".ini": // of Python projects, among others
		folders := slices.Clone(from)
		for _, folder := range from {
			folders = append(folders, filepath.Join(folder, "src"))
		}
		for _, m := range token().FindAll(content, -1) {
			p.mention(root, from, string(m), false)
			p.pythonModule(root, folders, string(m))
		}
	case ".md", ".txt", ".rst", ".lock", ".map", ".html", ".css", ".svg", ".csv", ".log":
	default:
		for _, m := range token().FindAll(content, -1) {
			p.mention(root, from, string(m), false)
		}
	}
}

// pythonModule adds what the first part of a module's name may be.
func (p *planner) pythonModule(root string, from []string, name string) {
	first, _, _ := strings.Cut(strings.TrimLeft(name, "."), ".")
	if first == "" {
		return
	}
	for _, folder := range from {
		p.mentioned(root, filepath.Join(folder, first+".py"))
		if at := filepath.Join(root, folder, first); holdsPython(at) {
			p.mentioned(root, filepath.Join(folder, first))
		}
	}
}

func holdsPython(folder string) bool {
	list, err := os.ReadDir(folder)
	return err == nil && slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		return e.IsDir() || slices.Contains([]string{".py", ".so", ".pyc"}, filepath.Ext(e.Name()))
	})
}

func (p *planner) quoted(root string, from []string, content []byte, module string) {
	for _, m := range quoted().FindAllSubmatch(content, -1) {
		name := string(m[1])
		if rest, ok := strings.CutPrefix(name, module+"/"); ok && module != "" {
			p.mention(root, []string{"."}, rest, true)
			continue
		}
		p.mention(root, from, name, true)
	}
}

// goModule returns the name of a root's Go module.
func goModule(root string) string {
	first, _, _ := strings.Cut(string(textOf(filepath.Join(root, "go.mod"))), "\n")
	name, _ := strings.CutPrefix(strings.TrimSpace(first), "module ")
	return strings.TrimSpace(name)
}

// mention adds what a text names, if there is such a thing. With guess, endings of scripts may be missing.
func (p *planner) mention(root string, from []string, name string, guess bool) {
	name = strings.TrimRight(name, "/.,;")
	if name == "" || filepath.IsAbs(name) || strings.Trim(name, "./") == "" && !strings.HasPrefix(name, "..") {
		return
	}
	for _, folder := range from {
		rel := filepath.Join(folder, filepath.FromSlash(name))
		if p.mentioned(root, rel) || !guess {
			continue
		}
		for _, end := range []string{".js", ".mjs", ".cjs", ".ts", ".json", ".node", ".rb", ".pm", ".lua"} {
			if p.mentioned(root, rel+end) {
				break
			}
		}
	}
}

// mentioned adds a path that a text names.
func (p *planner) mentioned(root, rel string) bool {
	if rel == "." || strings.HasPrefix(rel, "..") || p.err != nil {
		return false
	}
	path := filepath.Join(root, rel)
	folder, file := exists(path)
	if !folder && !file || filepath.Base(rel) == ".git" || strings.HasPrefix(rel, ".git"+string(filepath.Separator)) {
		return false
	}
	key := "@" + path
	if p.scanned[key] {
		return true
	}
	p.scanned[key] = true
	at := located{add: firstLink(root, rel), root: root, rel: rel}
	if file {
		p.file(at)
	} else {
		p.tree(at)
	}
	return true
}

// tree adds a folder.
func (p *planner) tree(at located) {
	if at.rel == "." {
		return
	}
	p.fail(p.collect.Add(at.add))
	p.scan(at)
}

// file adds a file with what belongs to it.
func (p *planner) file(at located) {
	folder := filepath.Dir(at.rel)
	top := at
	if owner, ok := dependencies(at.root, at.rel); ok {
		top.rel = owner
	} else if folder != "." {
		top.rel = folder
	}
	if top.rel != at.rel {
		top.add = firstLink(at.root, top.rel)
		p.fail(p.collect.Add(top.add))
	}
	p.fail(p.collect.Add(at.add))
	p.scan(top)
	if _, interpreter := shebang(filepath.Join(at.root, at.rel)); interpreter != "" {
		if by, ok := p.locate(interpreter); ok && !p.scanned["#"+interpreter] {
			p.scanned["#"+interpreter] = true
			p.file(by)
			if p.runs[0] == "" {
				p.runs = [2]string{filepath.Join(at.root, at.rel), interpreter}
			}
		}
	}
}

// own adds a path of the project, where a worktree has none of its own the one of the project if it holds what is
// installed.
func (p *planner) own(root, rel string) {
	for _, from := range append([]string{root}, p.Roots...) {
		real, err := resolve(from)
		if err != nil {
			continue
		}
		path := filepath.Join(real, rel)
		folder, file := exists(path)
		if !folder && !file || real != root && !installs(filepath.Base(rel), path) {
			continue
		}
		at := located{add: firstLink(real, rel), root: real, rel: rel}
		p.fail(p.collect.Add(at.add))
		p.scan(at)
		return
	}
}
