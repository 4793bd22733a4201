// Command install installs the pinned agent CLIs from npm into .cache/clis, where the suites with the real CLIs look
// for them. It does nothing if all are there.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"orchestrator/agent/agenttest/clis"
)

func main() {
	if err := install(); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
}

func install() error {
	dir, err := clis.Folder()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(map[string]any{
		"name": "orchestrator-clis", "private": true, "dependencies": clis.Pinned,
	}, "", "  ")
	if err != nil {
		return err
	}
	if complete(dir) {
		fmt.Println("the agent CLIs are installed in", dir)
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), raw, 0o644); err != nil {
		return err
	}
	cmd := exec.Command("npm", "install", "--no-audit", "--no-fund")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm install in %s: %w", dir, err)
	}
	return nil
}

// complete reports whether every package is installed in its version.
func complete(dir string) bool {
	for name, version := range clis.Pinned {
		raw, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json"))
		var pkg struct{ Version string }
		if err != nil || json.Unmarshal(raw, &pkg) != nil || pkg.Version != version {
			return false
		}
	}
	return true
}
