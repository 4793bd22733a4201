package gemini

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"orchestrator/agent/launch"
	"orchestrator/agent/slim"
	"orchestrator/agent/world"
	"orchestrator/thread"
)

// wishes are the settings and rules of the person, the repository and the organisation about what levers leave out.
type wishes struct {
	layers []layer
	allow  map[string]string // where a tool is allowed or asked for, by the tool
	skills string            // what needs skills, "" for nothing
	agents string            // what needs agents
	plans  bool              // it is started in its plan mode
	yolo   bool              // it is started in the mode that asks nothing, whose text names the tool for questions
	broken string            // why nothing can be added to the person's settings, "" if it can
}

// layer is what one file sets.
type layer struct {
	from string
	all  map[string]any
}

// wishesIn reads those files of the settings of Gemini CLI for a folder that are heard, as if the person trusted it: that
// may change, and the tools of a conversation shall not. A file that cannot be read says nothing: Gemini CLI itself reports
// it.
func wishesIn(spec thread.WorldSpec, heard func(path string) bool) wishes {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	mode := spec.Flags.PermissionMode
	w := wishes{allow: map[string]string{}, plans: mode == "plan", yolo: mode == "yolo"}
	defaults, system := systemSettings(env)
	paths := []string{defaults, filepath.Join(home(env), "settings.json")}
	if own := filepath.Join(spec.Dir, ".gemini"); own != home(env) {
		paths = append(paths, filepath.Join(own, "settings.json"))
	}
	for _, path := range append(paths, system) {
		all := map[string]any{}
		if !heard(path) || (path == defaults || path == system) && !secure(path) {
			continue
		}
		ok, err := world.ReadJSONC(path, &all)
		switch {
		case err == nil && ok:
			w.layers = append(w.layers, layer{path, all})
		case err != nil && path == filepath.Join(home(env), "settings.json"):
			w.broken = path + " cannot be read"
		}
	}
	for _, l := range w.layers {
		tools, _ := l.all["tools"].(map[string]any)
		for _, key := range []string{"core", "allowed"} {
			for _, name := range names(tools[key]) {
				w.allows(name, l.from)
			}
		}
		general, _ := l.all["general"].(map[string]any)
		w.plans = w.plans || general["defaultApprovalMode"] == "plan"
	}
	policies := []string{filepath.Join(home(env), "policies"), filepath.Join(spec.Dir, ".gemini", "policies")}
	for i, arg := range spec.Flags.Args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(spec.Flags.Args) {
			value = spec.Flags.Args[i+1]
		}
		switch name {
		case "--allowed-tools":
			for tool := range strings.SplitSeq(value, ",") {
				w.allows(strings.TrimSpace(tool), name)
			}
		case "--policy":
			policies = append(policies, value)
		case "--approval-mode":
			w.plans, w.yolo = w.plans || value == "plan", w.yolo || value == "yolo"
		case "--yolo", "-y":
			w.yolo = true
		}
	}
	for _, l := range w.layers {
		policies = append(policies, names(l.all["policyPaths"])...)
	}
	for _, path := range policies {
		if heard(path) {
			w.policies(path)
		}
	}
	w.find(env, spec.Dir)
	return w
}

// names returns the strings of a list.
func names(v any) []string {
	var all []string
	list, _ := v.([]any)
	for _, e := range list {
		if s, ok := e.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// allows notes the tool that a rule like "run_shell_command(git status)" names.
func (w *wishes) allows(rule, where string) {
	name, _, _ := strings.Cut(rule, "(")
	w.allow[name] = where
}

// policies reads the rules in a file, or in the files of a folder.
func (w *wishes) policies(path string) {
	files, err := filepath.Glob(filepath.Join(path, "*.toml"))
	if err != nil || len(files) == 0 {
		files = []string{path}
	}
	for _, file := range files {
		raw, _, err := world.Read(file)
		var all struct {
			Rule []map[string]any `toml:"rule"`
		}
		if err != nil || toml.Unmarshal(raw, &all) != nil {
			continue
		}
		for _, rule := range all.Rule {
			if rule["decision"] != "allow" && rule["decision"] != "ask_user" {
				continue
			}
			tools := names(rule["toolName"])
			if name, ok := rule["toolName"].(string); ok {
				tools = append(tools, name)
			}
			for _, name := range tools {
				w.allows(name, file)
			}
		}
	}
}

// find looks for skills and agents of the person's, of extensions and of the repository.
func (w *wishes) find(env launch.Env, dir string) {
	own := []string{home(env), filepath.Join(filepath.Dir(home(env)), ".agents"), filepath.Join(home(env), "extensions")}
	for _, at := range slim.Above(dir) {
		own = append(own, filepath.Join(at, ".gemini"), filepath.Join(at, ".agents"))
	}
	for _, at := range own {
		folders := func(kind string) []string {
			if filepath.Base(at) != "extensions" {
				return []string{filepath.Join(at, kind)}
			}
			all, _ := filepath.Glob(filepath.Join(at, "*", kind)) // the pattern is a good one
			return all
		}
		if found := slim.Find("SKILL.md", folders("skills")...); len(found) > 0 && w.skills == "" {
			w.skills = fmt.Sprintf("%s has the skill %s", at, found[0])
		}
		if found := slim.Find("*.md", folders("agents")...); len(found) > 0 && w.agents == "" {
			w.agents = fmt.Sprintf("%s has the agent %s", at, found[0])
		}
	}
}

// decided returns the setting of a person's that decides what a lever would, "" if there is none.
func (w wishes) decided(l lever) string {
	if l.Name == "plan-mode" && w.plans {
		return "it is started in its plan mode"
	}
	for _, s := range l.settings {
		if w.broken != "" {
			return w.broken
		}
		for _, from := range slices.Backward(w.layers) {
			group, isGroup := from.all[s.group].(map[string]any)
			own, set := group[s.key]
			_, isList := own.([]any)
			_, more := s.value.([]string)
			switch {
			case from.all[s.group] != nil && !isGroup:
				return fmt.Sprintf("%s sets %s", from.from, s.group)
			case set && more && isList:
				continue // ours are added
			case set && own != s.value:
				return fmt.Sprintf("%s sets %s.%s", from.from, s.group, s.key)
			}
		}
	}
	return ""
}

// kept returns why a lever is not to be chosen, "" if nothing speaks against it.
func (w wishes) kept(l lever) string {
	if why := w.decided(l); why != "" {
		return why
	}
	for _, tool := range l.Tools {
		if where := w.allow[tool]; where != "" {
			return fmt.Sprintf("%s allows %s", where, tool)
		}
	}
	switch l.Name {
	case "skills":
		return w.skills
	case "agents":
		return w.agents
	case "questions":
		if w.yolo {
			return "its text for the mode yolo tells it when to use ask_user"
		}
	}
	return ""
}
