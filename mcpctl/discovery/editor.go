package discovery

import (
	"orchestrator/mcpctl/jsonc"
)

// setEditor knows the settings of Cursor and VS Code.
func setEditor(d *draft, key string, v jsonc.Value) (string, bool) {
	switch key {
	case "envFile":
		return text(&d.EnvFile, v), true
	case "cwd":
		return text(&d.Dir, v), true
	case "auth", "dev", "gallery", "version", "sandbox", "sandboxEnabled":
		return "", true
	}
	return setCommon(d, key, v)
}
