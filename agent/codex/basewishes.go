package codex

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/agent/slim"
	"orchestrator/thread"
)

// wishes are the settings and rules of the person, the repository and the organisation about what levers leave out.
type wishes struct {
	layers []layer
	agents string // what needs agents of Codex's own, "" for nothing
}

// layer is what one place sets.
type layer struct {
	from string
	all  map[string]any
}

// wishesIn reads those files of the configuration of Codex for a folder that are heard. A file that cannot be read says nothing: Codex itself reports
// it.
func wishesIn(spec thread.WorldSpec, heard func(path string) bool) wishes {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	var w wishes
	add := func(from string, all map[string]any) {
		if len(all) > 0 {
			w.layers = append(w.layers, layer{from, all})
		}
	}
	overrides, profile := ownArguments(spec.Flags.Args)
	paths := []string{filepath.Join(systemDir, "config.toml"), filepath.Join(home(env), "config.toml")}
	if profile != "" {
		paths = append(paths, filepath.Join(home(env), profile+".config.toml"))
	}
	above := slim.Above(spec.Dir)
	for _, at := range above {
		paths = append(paths, filepath.Join(at, ".codex", "config.toml"))
	}
	for _, path := range append(paths, filepath.Join(systemDir, "managed_config.toml"), filepath.Join(systemDir, "requirements.toml")) {
		if !heard(path) {
			continue
		}
		if all, _, err := readTOML(path); err == nil {
			named := profile
			if named == "" {
				named = text(all, "profile")
			}
			add(path, all)
			add("the profile "+named, table(table(all, "profiles"), named))
		}
	}
	for _, all := range overrides {
		add("an argument", all)
	}
	for _, all := range switched(spec.Flags.Args) {
		add("an argument", all)
	}
	w.find(append([]string{filepath.Dir(home(env))}, above...))
	return w
}

// switched returns what the arguments that turn something on or off set.
func switched(args []string) []map[string]any {
	var all []map[string]any
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "--enable", "--disable":
			all = append(all, map[string]any{"features": map[string]any{value: name == "--enable"}})
		case "--search":
			all = append(all, map[string]any{"web_search": "live"})
		}
	}
	return all
}

// find looks for agents of the person's and of the repository.
func (w *wishes) find(folders []string) {
	for _, at := range folders {
		if names := slim.Find("*.toml", filepath.Join(at, ".codex", "agents")); len(names) > 0 {
			w.agents = fmt.Sprintf("%s has the agent %s", filepath.Join(at, ".codex", "agents"), names[0])
			return
		}
	}
	for _, l := range w.layers {
		for name, v := range table(l.all, "agents") {
			if _, role := v.(map[string]any); role {
				w.agents = fmt.Sprintf("%s has the agent %s", l.from, name)
				return
			}
		}
	}
}

// older are the names that settings of keys had, or have as well.
func older(name string) []string {
	switch name {
	case "features.multi_agent":
		return []string{"features.collab", "features.multi_agent_v2"}
	case "web_search":
		return []string{"tools.web_search", "features.web_search_request", "features.web_search_cached", "features.web_search"}
	case "features.view_image":
		return []string{"tools.view_image"}
	}
	return nil
}

// decided returns the setting of a person's that decides what a lever would, "" if there is none.
func (w wishes) decided(l lever) string {
	for _, k := range l.keys {
		for _, name := range append([]string{k.name}, older(k.name)...) {
			for _, from := range slices.Backward(w.layers) {
				if own, ok := at(from.all, name); ok {
					if own != k.value && !(name != k.name && own == false) {
						return fmt.Sprintf("%s sets %s", from.from, name)
					}
					break
				}
			}
		}
	}
	return ""
}

// against returns the older names of a key by which a place that is not asked switches on what the key switches off: each
// of them counts for Codex beside the key.
func (w wishes) against(k key) []string {
	var all []string
	for _, name := range older(k.name) {
		for _, from := range slices.Backward(w.layers) {
			if v, ok := at(from.all, name); ok {
				if v != false {
					all = append(all, name)
				}
				break
			}
		}
	}
	return all
}

// kept returns why a lever is not to be chosen for a version, "" if nothing speaks against it.
func (w wishes) kept(l lever, version string) string {
	if why := w.decided(l); why != "" {
		return why
	}
	if l.Name == "agents" && w.agents != "" {
		return w.agents
	}
	if len(l.passed(version)) == 0 {
		return "what it does in Codex " + version + " was not measured"
	}
	return ""
}

// passed are the keys that a version is given.
func (l lever) passed(version string) []key {
	return slices.DeleteFunc(slices.Clone(l.keys), func(k key) bool {
		return k.measured && !slices.Contains(measured(), version)
	})
}

// at returns what a configuration has under a name with dots.
func at(all map[string]any, name string) (any, bool) {
	path := strings.Split(name, ".")
	for _, key := range path[:len(path)-1] {
		if all = table(all, key); all == nil {
			return nil, false
		}
	}
	v, ok := all[path[len(path)-1]]
	if inner, isTable := v.(map[string]any); isTable && inner["enabled"] != nil {
		return inner["enabled"], true
	}
	return v, ok
}
