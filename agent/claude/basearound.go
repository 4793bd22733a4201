package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

const (
	// largeFile is the size of a file of instructions that is worth a word: 2,000 tokens in every request.
	largeFile = 8 << 10
	// manySkills is how many skills of a person's, of about 60 tokens each, are worth a word.
	manySkills = 40
)

// Surroundings implements thread.Slimmer.
func (*Agent) Surroundings(spec thread.WorldSpec) []thread.BaseWarning {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	if s, err := look(spec); err == nil {
		env = s.env
	}
	var all []thread.BaseWarning
	add := func(do, what string, args ...any) {
		all = append(all, thread.BaseWarning{What: fmt.Sprintf(what, args...), Do: do})
	}
	const first = "puts the definitions of all tools, of MCP servers too, into every request: about 7,000 tokens more"
	switch {
	case env.Enabled("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS"):
		add("Unset it.", "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS=%s %s", env.Value("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS"), first)
	case !searchesTools(env, ""):
		value := env.Value("ENABLE_TOOL_SEARCH")
		if strings.HasPrefix(strings.ToLower(value), "auto") {
			add("Unset it.", "ENABLE_TOOL_SEARCH=%s puts the definitions of MCP tools into every request while they are short", value)
		} else {
			add("Unset it.", "ENABLE_TOOL_SEARCH=%s %s", value, first)
		}
	case !searchesTools(env, spec.Model):
		add("Use a newer model.", "the model %s has the definitions of all tools in every request, of MCP servers too", spec.Model)
	}
	for _, path := range instructionFiles(env, spec.Dir) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > largeFile {
			add("Shorten it, or move parts into skills, which are read when they are needed.", "%s has %s, and every request has all of it",
				path, thread.Bytes(info.Size()))
		}
	}
	if n := countSkills(env, spec.Dir); n > manySkills {
		add("Remove those that you do not use, or set them to off in skillOverrides.", "%d skills are listed in every request", n)
	}
	return all
}

// instructionFiles returns the files of instructions that Claude Code reads for a folder, with those that they import.
func instructionFiles(env launch.Env, dir string) []string {
	paths := []string{filepath.Join(managedDir(env), "CLAUDE.md"), filepath.Join(configDir(env), "CLAUDE.md")}
	for _, rules := range []string{filepath.Join(configDir(env), "rules"), filepath.Join(dir, ".claude", "rules")} {
		if more, err := filepath.Glob(filepath.Join(rules, "*.md")); err == nil {
			paths = append(paths, more...)
		}
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		for _, name := range []string{"CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"} {
			paths = append(paths, filepath.Join(at, name))
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	for i := 0; i < len(paths) && len(paths) < 100; i++ {
		for _, more := range imports(env, paths[i]) {
			if !slices.Contains(paths, more) {
				paths = append(paths, more)
			}
		}
	}
	return paths
}

// imported matches the files that a file of instructions imports.
var imported = pattern.Lazy(`(?m)(?:^|\s)@((?:~/|\.{0,2}/)?[\w./-]+\.\w+)`)

func imports(env launch.Env, path string) []string {
	raw, ok, err := world.Read(path)
	if err != nil || !ok {
		return nil
	}
	var paths []string
	for _, m := range imported().FindAllStringSubmatch(string(raw), 20) {
		name := m[1]
		switch {
		case strings.HasPrefix(name, "~/"):
			name = filepath.Join(env.Home(), name[2:])
		case !filepath.IsAbs(name):
			name = filepath.Join(filepath.Dir(path), name)
		}
		paths = append(paths, name)
	}
	return paths
}

// countSkills counts the skills and commands of the person's and the repository's.
func countSkills(env launch.Env, dir string) int {
	n := 0
	for _, at := range []string{configDir(env), filepath.Join(dir, ".claude")} {
		for _, pattern := range []string{"skills/*/SKILL.md", "commands/*.md", "commands/*/*.md"} {
			if found, err := filepath.Glob(filepath.Join(at, pattern)); err == nil {
				n += len(found)
			}
		}
	}
	return n
}
