// Package clis describes the real agent CLIs that the suites run against: their versions, their settings, and where
// they are installed. agent/agenttest/install installs them from npm; no test does.
package clis

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Pinned are the npm packages, in the versions that the adapters and the control of MCP servers were verified with.
var Pinned = map[string]string{
	"@anthropic-ai/claude-code": "2.1.330",
	"@openai/codex":             "0.169.0",
	"@google/gemini-cli":        "0.61.0",
	"opencode-ai":               "1.18.33",

	"@modelcontextprotocol/server-everything": "2026.8.31",
	"@modelcontextprotocol/server-filesystem": "2026.8.31",
	"@modelcontextprotocol/server-memory":     "2026.8.31",
}

// FolderVar is the variable with the folder in which the CLIs are installed.
const FolderVar = "ORCHESTRATOR_CLIS"

// SwitchVar is the variable that enables the tests with the real CLIs.
const SwitchVar = "ORCHESTRATOR_REAL_AGENTS"

// Folder returns where the CLIs are installed: .cache/clis in the repository, found by its go.mod
// above the working folder.
func Folder() (string, error) {
	if dir := os.Getenv(FolderVar); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".cache", "clis"), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod above the working folder")
		}
		dir = up
	}
}

// Bin returns the folder of the commands, or skips the test with the reason.
func Bin(t *testing.T) string {
	t.Helper()
	if os.Getenv(SwitchVar) != "1" {
		t.Skipf("SKIPPED, not run: the real agent CLIs. Run them with: go tool -modfile=.tools/go.mod task real "+
			"(about 1.2 GB from npm), or %s=1 go test", SwitchVar)
	}
	dir, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	if _, err := os.Stat(bin); err != nil {
		t.Fatalf("the agent CLIs are not installed: %v; install them with: go run ./agent/agenttest/install", err)
	}
	return bin
}
