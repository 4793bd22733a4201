package gemini

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
)

// home is Gemini CLI's own folder.
func home(env launch.Env) string {
	root := env.Value("GEMINI_CLI_HOME")
	if root == "" {
		root = env.Home()
	}
	return filepath.Join(root, ".gemini")
}

// settings are the fields of settings files that are read.
type settings struct {
	General struct {
		Retention struct {
			Enabled *bool `json:"enabled"`
		} `json:"sessionRetention"`
	} `json:"general"`
	Policies []string `json:"policyPaths"`
	Tools    struct {
		Sandbox json.RawMessage `json:"sandbox"` // true, a command, or an object
	} `json:"tools"`
	Advanced struct {
		// Excluded are variables that are not taken from a project's .env file, Ignore takes nothing from those files.
		Excluded []string `json:"excludedEnvVars"`
		Ignore   bool     `json:"ignoreLocalEnv"`
	} `json:"advanced"`
	Security struct {
		Auth struct {
			Selected string `json:"selectedType"`
		} `json:"auth"`
		Trust struct {
			Enabled *bool `json:"enabled"`
		} `json:"folderTrust"`
	} `json:"security"`
}

func (s settings) keepsSessions() bool {
	return s.General.Retention.Enabled != nil && !*s.General.Retention.Enabled
}

// systemSettings returns the organisation's settings: the file whose values can be replaced, and the one that replaces
// all others.
func systemSettings(env launch.Env) (defaults, system string) {
	system = env.Value("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
	if system == "" {
		system = "/etc/gemini-cli/settings.json"
		if runtime.GOOS == "darwin" {
			system = "/Library/Application Support/GeminiCli/settings.json"
		}
	}
	defaults = env.Value("GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
	if defaults == "" {
		defaults = filepath.Join(filepath.Dir(system), "system-defaults.json")
	}
	return defaults, system
}

// secure reports whether Gemini CLI obeys a file of the organisation: only root may write it and the folders above.
func secure(path string) bool {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return false
		}
		owner, ok := info.Sys().(*syscall.Stat_t)
		if !ok || owner.Uid != 0 || info.Mode().Perm()&0o022 != 0 {
			return false
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}

// settingsFiles returns the files of settings that Gemini CLI obeys, in its order, in which later ones win: the
// organisation's defaults, the person's, the folder's if dir is not "", the organisation's.
func settingsFiles(env launch.Env, dir string) []string {
	defaults, system := systemSettings(env)
	var paths []string
	if secure(defaults) {
		paths = append(paths, defaults)
	}
	paths = append(paths, filepath.Join(home(env), "settings.json"))
	if dir != "" && filepath.Join(dir, ".gemini") != home(env) {
		paths = append(paths, filepath.Join(dir, ".gemini", "settings.json"))
	}
	if secure(system) {
		paths = append(paths, system)
	}
	return paths
}

// readSettings reads the settings of files in their order.
func readSettings(env launch.Env, dir string) (settings, error) {
	merged := map[string]any{}
	for _, path := range settingsFiles(env, dir) {
		one := map[string]any{}
		if _, err := world.ReadJSONC(path, &one); err != nil {
			return settings{}, err
		}
		merge(merged, one)
	}
	raw, err := json.Marshal(merged)
	if err != nil {
		return settings{}, err
	}
	var s settings
	return s, json.Unmarshal(raw, &s)
}

// merge adds one object to another; what it says wins.
func merge(to, from map[string]any) {
	for key, v := range from {
		inner, ok := v.(map[string]any)
		if was, both := to[key].(map[string]any); ok && both {
			merge(was, inner)
			continue
		}
		to[key] = v
	}
}

// leniently returns the person's and the organisation's settings; none if they cannot be read, which Gemini CLI reports
// itself.
func leniently(env launch.Env) settings {
	s, err := readSettings(env, "")
	if err != nil {
		return settings{}
	}
	return s
}
