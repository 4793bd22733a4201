package model

import (
	"fmt"
	"path"
	"strings"

	"orchestrator/agent/scripted"
	"orchestrator/thread/pattern"
)

// telling picks the most informative file of a project.
func telling(listing string) string {
	files := strings.Fields(listing)
	for _, want := range []string{
		"readme.md", "readme", "readme.txt", "readme.rst",
		"go.mod", "package.json", "cargo.toml", "pyproject.toml", "makefile",
	} {
		for _, f := range files {
			if strings.EqualFold(f, want) {
				return f
			}
		}
	}
	for _, f := range files {
		if !strings.HasSuffix(f, "/") && language(f) != "" {
			return f
		}
	}
	return ""
}

// definition matches the names that a file defines, and its headings.
var definition = pattern.Lazy(`(?m)^(?:export |pub |async |static )*` +
	`(?:func|type|class|def|function|struct|enum|interface|fn|impl|const [A-Z]\w*|#+)\s*` +
	`(?:\([^)]*\)\s*)?([\w ./:-]{2,60})`)

// describeFile describes a file as far as possible without understanding it.
func describeFile(name, text string) string {
	ls := lines(strings.TrimRight(text, "\n"))
	var b strings.Builder
	kind := language(name)
	if kind == "" {
		kind = "text"
	}
	fmt.Fprintf(&b, "`%s` is a %s file of %s and %s.",
		name, kind, things(len(ls), "line"), things(len(strings.Fields(text)), "word"))
	if first := firstProse(ls); first != "" {
		fmt.Fprintf(&b, " It begins: %q.", strings.TrimRight(clip(first, 120), "."))
	}
	var names []string
	for _, m := range definition().FindAllStringSubmatch(text, 12) {
		names = append(names, strings.TrimSpace(m[1]))
	}
	if len(names) > 0 {
		b.WriteString("\n\nIts main parts:\n")
		for _, n := range names {
			b.WriteString("\n- " + n)
		}
	}
	return b.String()
}

// describeProject describes a project from the listing and the most informative file.
func describeProject(seen []scripted.Outcome) string {
	listing := seen[0].Output
	kinds := make(map[string]int)
	best, files, folders := "", 0, 0
	for _, f := range strings.Fields(listing) {
		if strings.HasSuffix(f, "/") {
			folders++
			continue
		}
		files++
		if l := language(f); l != "" && l != "Markdown" {
			kinds[l]++
			if best == "" || kinds[l] > kinds[best] {
				best = l
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "This folder holds %s and %s", things(files, "file"), things(folders, "folder"))
	if best != "" {
		fmt.Fprintf(&b, ", mostly %s", best)
	}
	b.WriteString(".")
	if len(seen) > 1 && !seen[1].Failed {
		b.WriteString(" " + describeFile(arg(seen[1].Call, "path"), seen[1].Output))
	} else if files == 0 {
		b.WriteString(" There is nothing to read yet. Try: write README.md: # My project")
	}
	return b.String()
}

// firstProse returns the first line with words, without the marks of a heading or comment.
func firstProse(ls []string) string {
	for _, l := range ls {
		l = strings.TrimLeft(strings.TrimSpace(l), "#/*<!-= ")
		if len(strings.Fields(l)) > 2 {
			return l
		}
	}
	return ""
}

// languages by the end of a file's name.
var languages = map[string]string{
	".go": "Go", ".mod": "Go module", ".rs": "Rust", ".py": "Python", ".rb": "Ruby", ".php": "PHP", ".java": "Java",
	".js": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript", ".html": "HTML", ".css": "CSS",
	".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".sh": "shell", ".sql": "SQL", ".md": "Markdown",
	".json": "JSON", ".toml": "TOML", ".yml": "YAML", ".yaml": "YAML",
}

func language(name string) string { return languages[strings.ToLower(path.Ext(name))] }
