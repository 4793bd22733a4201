package opencode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"orchestrator/agent/launch"
	"orchestrator/agent/slim"
	"orchestrator/agent/world"
	"orchestrator/thread"
)

// wishes are the settings and rules of the person, the repository and the organisation about what levers leave out.
type wishes struct {
	layers []layer
	// agent is the agent of opencode's that the person talks with, model what it asks, "" if that is its own choice.
	agent, model string
	skills       string // what needs skills, "" for nothing
	agents       string // what needs agents
	broken       string // why nothing can be added to the person's rules
}

// layer is what one place sets.
type layer struct {
	from string
	wish
}

// wish are the fields of a configuration that say something of levers, as they come: a broken one says nothing.
type wish struct {
	Model      string          `json:"model"`
	Permission json.RawMessage `json:"permission"`
	Tools      json.RawMessage `json:"tools"`
	Agent      json.RawMessage `json:"agent"`
	Mode       json.RawMessage `json:"mode"`
}

// wishesIn reads those files of the configuration of opencode for a folder that are heard, also of a repository whose
// configuration is not read before its servers are accepted: the tools of a conversation shall not change then.
func wishesIn(spec thread.WorldSpec, heard func(path string) bool) wishes {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	w := wishes{agent: "build"}
	paths := append(userFiles(env), projectFiles(spec.Dir)...)
	paths = append(paths, filesIn(filepath.Join(env.Home(), ".opencode"))...)
	if folder := env.Value("OPENCODE_CONFIG_DIR"); folder != "" {
		paths = append(paths, filesIn(folder)...)
	}
	for _, path := range paths {
		if heard(path) {
			w.read(path)
		}
	}
	w.add("OPENCODE_CONFIG_CONTENT", []byte(env.Value("OPENCODE_CONFIG_CONTENT")))
	for _, path := range filesIn(managedDir(env)) {
		w.read(path)
	}
	if own := env.Value(permissionVar); own != "" {
		raw := launch.StripComments([]byte(own))
		var rules object
		if err := json.Unmarshal(raw, &rules); err != nil {
			w.broken = permissionVar + " cannot be read"
		} else {
			w.layers = append(w.layers, layer{permissionVar, wish{Permission: raw}})
		}
	}
	switch mode := spec.Flags.PermissionMode; mode {
	case "", "default", "auto":
	default:
		w.agent = mode
	}
	for i, arg := range spec.Flags.Args {
		if arg == "--agent" && i+1 < len(spec.Flags.Args) {
			w.agent = spec.Flags.Args[i+1]
		}
	}
	for _, l := range w.layers {
		w.model = cmp.Or(text(members(members(l.Agent)[w.agent])["model"]), l.Model, w.model)
	}
	w.model = cmp.Or(modelOf(spec), w.model)
	w.find(env, spec.Dir)
	return w
}

func (w *wishes) read(path string) {
	if raw, ok, err := world.Read(path); err == nil && ok {
		w.add(path, raw)
	}
}

func (w *wishes) add(from string, raw []byte) {
	var all wish
	if len(raw) > 0 && json.Unmarshal(launch.StripComments(raw), &all) == nil {
		w.layers = append(w.layers, layer{from, all})
	}
}

// members returns the fields of an object, none of anything else.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// builtIn are the agents that come with opencode.
func builtIn() []string {
	return []string{"build", "plan", "general", "explore", "compaction", "title", "summary"}
}

// find looks for skills and agents of the person's and of the repository.
func (w *wishes) find(env launch.Env, dir string) {
	own := []string{xdg(env, "XDG_CONFIG_HOME", ".config")}
	for _, at := range append([]string{env.Home()}, slim.Above(dir)...) {
		own = append(own, filepath.Join(at, ".opencode"), filepath.Join(at, ".claude"), filepath.Join(at, ".agents"))
	}
	if folder := env.Value("OPENCODE_CONFIG_DIR"); folder != "" {
		own = append(own, folder)
	}
	for _, at := range own {
		found := slim.Find("SKILL.md", filepath.Join(at, "skill"), filepath.Join(at, "skills"))
		if len(found) > 0 && w.skills == "" {
			w.skills = fmt.Sprintf("%s has the skill %s", at, found[0])
		}
		if base := filepath.Base(at); base == ".claude" || base == ".agents" {
			continue // their agents are not opencode's
		}
		found = slim.Find("*.md", filepath.Join(at, "agent"), filepath.Join(at, "agents"))
		if len(found) > 0 && w.agents == "" {
			w.agents = fmt.Sprintf("%s has the agent %s", at, found[0])
		}
	}
	for _, l := range w.layers {
		agents := members(l.Agent)
		for _, name := range slices.Sorted(maps.Keys(agents)) {
			if !slices.Contains(builtIn(), name) && text(members(agents[name])["mode"]) != "primary" && w.agents == "" {
				w.agents = fmt.Sprintf("%s has the agent %s", l.from, name)
			}
		}
	}
}

// decided returns the setting of a person's that decides what a lever would, "" if there is none.
func (w wishes) decided(l lever) string {
	if w.broken != "" {
		return w.broken
	}
	for _, from := range slices.Backward(w.layers) {
		for _, rule := range l.rules {
			if sets(from.Permission, rule) {
				return fmt.Sprintf("%s sets permission.%s", from.from, rule)
			}
		}
		for _, tool := range l.Tools {
			if on := members(from.Tools)[tool]; on != nil && string(on) != "false" {
				return fmt.Sprintf("%s sets tools.%s", from.from, tool)
			}
		}
		for _, of := range []struct {
			kind   string
			agents json.RawMessage
		}{{"agent", from.Agent}, {"mode", from.Mode}} {
			one := members(members(of.agents)[w.agent])
			for _, rule := range append([]string{"*"}, l.rules...) {
				if sets(one["permission"], rule) {
					return fmt.Sprintf("%s sets %s.%s.permission", from.from, of.kind, w.agent)
				}
			}
			for _, tool := range append([]string{"*"}, l.Tools...) {
				if on := members(one["tools"])[tool]; on != nil && string(on) != "false" {
					return fmt.Sprintf("%s sets %s.%s.tools", from.from, of.kind, w.agent)
				}
			}
		}
	}
	return ""
}

// sets reports whether permissions say something else of a tool than that it is denied.
func sets(permission json.RawMessage, rule string) bool {
	own := members(permission)[rule]
	return own != nil && text(own) != "deny"
}

// kept returns why a lever is not to be chosen, "" if nothing speaks against it.
func (w wishes) kept(l lever) string {
	if why := w.decided(l); why != "" {
		return why
	}
	switch {
	case l.Name == "skills" && w.skills != "":
		return w.skills
	case l.Name == "agents" && w.agents != "":
		return w.agents
	case slices.Contains(prompted(w.model), l.Name):
		return fmt.Sprintf("opencode's own prompt for %s tells it to use %s", cmp.Or(w.model, "some models"), l.Tools[0])
	}
	return ""
}
