package claude

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// wishes are the settings and rules of the person, the repository and the organisation about what levers leave out.
type wishes struct {
	keys  map[string]wish   // of settings files, the last that sets one
	rules map[string]string // where rules that allow a tool, or have it asked for, are, by the tool
	own   map[string]string // what needs a tool, by the tool
}

type wish struct {
	value any
	from  string
}

// preference are the fields of a settings file that say something of levers.
type preference struct {
	Permissions struct {
		Allow, Ask []string
	} `json:"permissions"`
	Agent   string         `json:"agent"`
	Plugins map[string]any `json:"enabledPlugins"`
}

// wishesIn reads those files of settings that are heard, in the order of look. A file that cannot be read has none for
// Claude Code either.
func wishesIn(spec thread.WorldSpec, heard func(path string) bool) wishes {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	w := wishes{keys: map[string]wish{}, rules: map[string]string{}, own: map[string]string{}}
	sources := settingSources(spec.Flags.Args)
	var paths []string
	if slices.Contains(sources, "user") {
		paths = append(paths, filepath.Join(configDir(env), "settings.json"))
	}
	paths = append(paths, projectFiles(spec.Dir, sources)...)
	for _, path := range paths {
		if heard(path) {
			w.read(path)
		}
	}
	if _, values := settingsArguments(spec.Flags.Args); len(values) > 0 {
		path := settingsPath(spec.Dir, values[len(values)-1])
		_, flag, err := ownSettings(spec.Dir, spec.Flags.Args)
		if err == nil && (path == "" || heard(path)) {
			w.add(flag, "--settings")
		}
	}
	for _, path := range managedFiles(env) {
		if heard(path) {
			w.read(path)
		}
	}
	w.arguments(spec.Flags.Args)
	w.find(filepath.Join(configDir(env)), "you have")
	root, _ := world.Repository(spec.Dir)
	for at := spec.Dir; ; at = filepath.Dir(at) {
		w.find(filepath.Join(at, ".claude"), "the repository has")
		if at == root || at == filepath.Dir(at) || root == "" {
			break
		}
	}
	return w
}

// managedFiles are the organisation's settings.
func managedFiles(env launch.Env) []string {
	paths := []string{filepath.Join(managedDir(env), "managed-settings.json")}
	more, err := filepath.Glob(filepath.Join(managedDir(env), "managed-settings.d", "*.json"))
	if err == nil {
		paths = append(paths, more...)
	}
	paths = append(paths, filepath.Join(configDir(env), "remote-settings.json"))
	if path := env.Value("CLAUDE_CODE_REMOTE_SETTINGS_PATH"); path != "" {
		paths = append(paths, path)
	}
	return paths
}

func (w *wishes) read(path string) {
	var all map[string]any
	if _, err := world.ReadJSON(path, &all); err != nil {
		return
	}
	if fetched, ok := all["settings"].(map[string]any); ok {
		w.add(fetched, path)
	}
	w.add(all, path)
}

// add adds the settings of one place.
func (w *wishes) add(all map[string]any, from string) {
	for key, value := range all {
		w.keys[key] = wish{value, from}
	}
	var p preference
	raw, err := json.Marshal(all)
	if err != nil || json.Unmarshal(raw, &p) != nil {
		return // of another shape
	}
	for _, rule := range slices.Concat(p.Permissions.Allow, p.Permissions.Ask) {
		w.names(rule, "a rule in "+from+" names it")
	}
	if p.Agent != "" {
		w.own["Agent"] = from + " sets agent"
	}
	for _, name := range slices.Sorted(maps.Keys(p.Plugins)) {
		if on, isBool := p.Plugins[name].(bool); on || !isBool {
			w.needs("Skill", fmt.Sprintf("the plugin %s may have skills", name))
			w.needs("Agent", fmt.Sprintf("the plugin %s may have agents", name))
		}
	}
}

// toolName matches the tools at the begin of rules.
var toolName = pattern.Lazy(`([A-Za-z][\w*-]*)(\([^()]*\))?`)

// names notes the tools of a list of rules: "Bash(git log:*) Edit".
func (w *wishes) names(rules, where string) {
	for _, m := range toolName().FindAllStringSubmatch(rules, -1) {
		w.rules[m[1]] = where
		w.rules[m[0]] = where
	}
}

func (w *wishes) needs(tool, why string) {
	if _, ok := w.own[tool]; !ok {
		w.own[tool] = why
	}
}

// arguments reads the arguments that name tools, agents and plugins.
func (w *wishes) arguments(args []string) {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		values := []string{value}
		for _, more := range args[i+1:] {
			if joined || strings.HasPrefix(more, "-") {
				break
			}
			values = append(values, more)
		}
		switch name {
		case "--allowedTools", "--allowed-tools", "--tools":
			for _, list := range values {
				w.names(list, name+" names it")
			}
		case "--agent", "--agents":
			w.needs("Agent", name+" is given")
		case "--plugin-dir":
			w.needs("Skill", "a plugin may have skills")
			w.needs("Agent", "a plugin may have agents")
		}
	}
}

// enough is how many files of a folder are looked at for one that counts.
const enough = 2000

// find looks for skills and agents in a folder for Claude Code.
func (w *wishes) find(dir, who string) {
	if skills, err := filepath.Glob(filepath.Join(dir, "skills", "*", "SKILL.md")); err == nil && len(skills) > 0 {
		w.needs("Skill", fmt.Sprintf("%s the skill %s", who, filepath.Base(filepath.Dir(skills[0]))))
	}
	if name := firstText(filepath.Join(dir, "commands")); name != "" {
		w.needs("Skill", fmt.Sprintf("%s the command /%s", who, name))
	}
	if name := firstText(filepath.Join(dir, "agents")); name != "" {
		w.needs("Agent", fmt.Sprintf("%s the agent %s", who, name))
	}
}

// firstText returns the name of a Markdown file below a folder, "" if there is none.
func firstText(dir string) (name string) {
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		seen++
		switch {
		case err != nil && os.IsNotExist(err), seen > enough:
			return fs.SkipAll
		case err == nil && !d.IsDir() && strings.EqualFold(filepath.Ext(path), ".md"):
			name = strings.TrimSuffix(d.Name(), filepath.Ext(path))
			return fs.SkipAll
		}
		return nil // what cannot be read is nothing for Claude Code either
	})
	if err != nil {
		return ""
	}
	return name
}

// decided returns the setting of a person's that decides what a lever would, "" if there is none.
func (w wishes) decided(l lever) string {
	for _, key := range slices.Sorted(maps.Keys(l.keys)) {
		if own, ok := w.keys[key]; ok && own.value != l.keys[key] {
			return fmt.Sprintf("%s sets %s", own.from, key)
		}
	}
	return ""
}

// kept returns why a lever is not to be chosen, "" if nothing speaks against it.
func (w wishes) kept(l lever) string {
	if why := w.decided(l); why != "" {
		return why
	}
	for _, tool := range slices.Concat(l.Tools, l.rules) {
		if why := w.rules[tool]; why != "" {
			return fmt.Sprintf("%s: %s", tool, why)
		}
		if why := w.own[tool]; why != "" {
			return why
		}
	}
	return ""
}
