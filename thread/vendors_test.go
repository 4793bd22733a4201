package thread_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoVendorWords keeps the words of the agents' CLIs and of the model APIs in their own packages: names of
// products, hooks and tools. Package secret is left out, for it knows whose keys look how.
func TestNoVendorWords(t *testing.T) {
	vendors := regexp.MustCompile(`(?i:\b(claude|codex|gemini|opencode|anthropic|openai)\b)` +
		`|\b(Pre|Post)ToolUse\b|\b(Before|After)(Tool|Agent|Model)\b|UserPromptSubmit|PermissionRequest|SubagentStop` +
		`|AskUserQuestion|ExitPlanMode|MultiEdit|NotebookEdit|TodoWrite|\bWebFetch\b|"(Bash|Edit|Write|Read|Task|Stop)"` +
		`|apply_patch|exec_command|write_file|str_replace|run_shell_command|update_plan` +
		`|agent-turn-complete|session\.idle|permission\.(asked|updated)|elicitation_dialog|idle_prompt`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path == "secret" || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(raw), "\n") {
			if word := vendors.FindString(line); word != "" {
				t.Errorf("%s:%d: %q is a vendor's word: it belongs in a package below agent or contextmgr", path, i+1, word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
