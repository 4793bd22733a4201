package verb

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/ui/intent"
)

// TestReadmeKeys: each key of the README means what it says, and each command without a key is named.
func TestReadmeKeys(t *testing.T) {
	table, err := intent.NewTable(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, rows := e2e.Readme(t, "Keys")
	said := map[intent.Action]bool{}
	for _, row := range rows {
		scopes := []intent.Scope{intent.Offer, intent.Tree, intent.Global}
		if strings.Contains(row[0], "its agent asks") {
			scopes = []intent.Scope{intent.Question, intent.Tree, intent.Global}
		}
		if strings.Contains(row[0], "from inside") || strings.Contains(row[1], "from inside") {
			scopes = []intent.Scope{intent.Tree, intent.Terminal, intent.Global}
		}
		if strings.Contains(row[0], "in the menu") {
			scopes = []intent.Scope{intent.ThreadMenu}
		}
		if strings.Contains(row[0], "in a turn") {
			scopes = []intent.Scope{intent.Searching, intent.Turn, intent.Global}
		}
		if strings.Contains(row[0], "in the timeline") {
			scopes = []intent.Scope{intent.Timeline, intent.Global}
		}
		if strings.Contains(row[0], "in the context view") {
			scopes = []intent.Scope{intent.Context, intent.Global}
		}
		for _, key := range e2e.Quotes(row[0]) {
			in := table.Lookup(scopes, intent.Key{Name: key})
			if in == nil {
				t.Errorf("README: %q does nothing in %v", key, scopes)
				continue
			}
			action, ok := in.(intent.Action)
			if !ok || action == intent.Up || action == intent.Down {
				continue
			}
			said[action] = true
			if help := helpOf(table, scopes, action); !sharesWord(help, row[1]) {
				t.Errorf("README: %q is %q, the table says %q", key, row[1], help)
			}
		}
		for _, key := range e2e.Quotes(row[1]) { // keys beside: where the row leads
			known := key == "fg"
			for _, s := range intent.Scopes() {
				known = known || table.Lookup([]intent.Scope{s}, intent.Key{Name: key}) != nil
			}
			if !known {
				t.Errorf("README: %q is no key anywhere", key)
			}
		}
	}
	_, palette, _ := strings.Cut(text, "what has no key")
	for _, b := range table.Commands() {
		if table.KeyOf(b.Action) == "" && !sharesAll(b.Description(), palette) {
			t.Errorf("README: the palette's %q, which has no key, is not named", b.Description())
		}
	}
	for _, a := range []intent.Action{
		intent.New, intent.Focus, intent.Send, intent.Fork, intent.Resume, intent.ResumeAll, intent.Merge, intent.Finish, intent.Abandon, intent.Archive,
		intent.Delete, intent.Undo, intent.Quit, intent.Palette, intent.Find, intent.Filter, intent.Rename, intent.NextView, intent.TakeOffer,
	} {
		if !said[a] {
			t.Errorf("README: nothing is said of %q", a)
		}
	}
}

func helpOf(table *intent.Table, scopes []intent.Scope, a intent.Action) string {
	for _, b := range table.Bindings(scopes...) {
		if b.Action == a {
			return b.Description()
		}
	}
	return ""
}

var longWord = regexp.MustCompile(`[a-zA-Z]{3,}`)

// sharesWord reports whether two texts share a word.
func sharesWord(a, b string) bool {
	words := longWord.FindAllString(strings.ToLower(b), -1)
	return slices.ContainsFunc(longWord.FindAllString(strings.ToLower(a), -1), func(w string) bool {
		return w != "the" && w != "and" && slices.Contains(words, w)
	})
}

// sharesAll reports whether a text holds most words of another.
func sharesAll(a, b string) bool {
	words, hit := longWord.FindAllString(strings.ToLower(a), -1), 0
	for _, w := range words {
		if strings.Contains(strings.ToLower(b), w) {
			hit++
		}
	}
	return 2*hit > len(words)
}

// TestReadmeVerbs: the README's verbs and their flags are those of the program.
func TestReadmeVerbs(t *testing.T) {
	root := (&cli{out: newOutput(os.Stdout, os.Stderr)}).command()
	root.InitDefaultCompletionCmd()
	_, rows := e2e.Readme(t, "Verbs")
	said := map[string]bool{}
	for _, row := range rows {
		for _, usage := range e2e.Quotes(row[0]) {
			words := strings.Fields(usage)
			verbs := []string{words[0]}
			cmd := verbNamed(root, words[0])
			if cmd == nil {
				t.Errorf("README: there is no verb %q", words[0])
				continue
			}
			said[words[0]] = true
			several := len(words) > 1 && strings.Contains(words[1], "|") && !strings.HasPrefix(words[1], "[")
			if several || len(words) > 1 && verbNamed(cmd, words[1]) != nil {
				for _, sub := range strings.Split(words[1], "|") {
					if verbNamed(cmd, sub) == nil {
						t.Errorf("README: %s has no %q", words[0], sub)
					}
					said[words[0]+" "+sub] = true
				}
				verbs = append(verbs, words[1])
			}
			for _, flag := range regexp.MustCompile(`(^|[\s\[(])(--?[a-z][a-z-]*)`).FindAllStringSubmatch(usage, -1) {
				sub := verbNamed(cmd, verbs[len(verbs)-1])
				if !hasFlag(cmd, flag[2]) && (sub == nil || !hasFlag(sub, flag[2])) {
					t.Errorf("README: %s has no flag %s", strings.Join(verbs, " "), flag[2])
				}
			}
		}
	}
	for _, cmd := range root.Commands() {
		if cmd.Hidden || cmd.Name() == "help" || cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		if !said[cmd.Name()] {
			t.Errorf("README: the verb %q is not named", cmd.Name())
		}
		for _, sub := range cmd.Commands() {
			if cmd.Name() != "completion" && !sub.Hidden && !said[cmd.Name()+" "+sub.Name()] {
				t.Errorf("README: %s %s is not named", cmd.Name(), sub.Name())
			}
		}
	}
}

func verbNamed(parent *cobra.Command, name string) *cobra.Command {
	for _, cmd := range parent.Commands() {
		if cmd.Name() == name {
			return cmd
		}
	}
	return nil
}

func hasFlag(cmd *cobra.Command, flag string) bool {
	if name, long := strings.CutPrefix(flag, "--"); long {
		return cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil
	}
	return cmd.Flags().ShorthandLookup(strings.TrimPrefix(flag, "-")) != nil
}
