package verb

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/help"
)

// TestHelpTopics: each topic is printed, fits a terminal, is named by the README and names only verbs that exist.
func TestHelpTopics(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	root := (&cli{out: newOutput(os.Stdout, os.Stderr)}).command()
	root.InitDefaultCompletionCmd()
	named := regexp.MustCompile("`orchestrator (?:help ([a-z]+)|([a-z-]+))")
	for _, topic := range help.Topics() {
		var out, errs bytes.Buffer
		if code := Run([]string{"help", topic.Name}, strings.NewReader(""), &out, &errs, nil); code != exitcode.OK {
			t.Errorf("help %s ends with %d: %s", topic.Name, code, &errs)
		}
		text, err := help.Text(topic.Name)
		if err != nil || out.String() != text {
			t.Errorf("help %s does not print its text (%v)", topic.Name, err)
		}
		if !strings.Contains(string(b), "\n| `"+topic.Name+"` |") {
			t.Errorf("the README does not list the topic %s", topic.Name)
		}
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(line) > 82 {
				t.Errorf("%s: wider than 80 columns: %s", topic.Name, line)
			}
		}
		for _, m := range named.FindAllStringSubmatch(text+string(b), -1) {
			if m[1] != "" {
				if _, err := help.Text(m[1]); err != nil {
					t.Errorf("%s names %v", topic.Name, err)
				}
			} else if m[2] == "help" || strings.HasPrefix(m[2], "-") {
				continue // of the program itself
			} else if cmd, _, err := root.Find([]string{m[2]}); err != nil || cmd == root {
				t.Errorf("%s names the verb %q, which does not exist", topic.Name, m[2])
			}
		}
	}
}
