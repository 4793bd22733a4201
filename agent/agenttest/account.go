package agenttest

import (
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// Pays is a case of who pays for an agent without a terminal: Files below a root, whose folders home and work are the
// person's and the agent's.
type Pays struct {
	Name  string
	Files map[string]string
	Env   []string // ROOT stands for the root
	Args  []string
	Model string
	// Kind and Identity make the account's name; Identity is "" if it is not known.
	Kind, Identity string
	Fails          string // part of why it cannot be known
}

// Accounts tries cases. A name never holds anything of what it is made of.
func Accounts(t *testing.T, a thread.Agent, cases []Pays) {
	t.Helper()
	namer, can := a.(thread.AccountNamer)
	if !can {
		t.Fatalf("%s does not know who pays", a.Name())
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			root := t.TempDir()
			Put(t, filepath.Join(root, "work", ".git", "HEAD"), "")
			for name, text := range c.Files {
				Put(t, filepath.Join(root, name), strings.ReplaceAll(text, "ROOT", root))
			}
			env := []string{"HOME=" + filepath.Join(root, "home")}
			for _, kv := range c.Env {
				env = append(env, strings.ReplaceAll(kv, "ROOT", root))
			}
			name, err := namer.Account(thread.WorldSpec{
				Dir: filepath.Join(root, "work"), Env: env, Flags: thread.Flags{Args: c.Args}, Model: c.Model, Once: true,
			})
			switch {
			case c.Fails != "":
				if err == nil || name != "" || !strings.Contains(err.Error(), c.Fails) {
					t.Errorf("%q, %v", name, err)
				}
			case err != nil || name != thread.AccountName(c.Kind, c.Identity):
				t.Errorf("%q, %v, want that of %s %q", name, err, c.Kind, c.Identity)
			case c.Identity != "" && (!thread.IsAccountName(name) || strings.Contains(name, c.Identity)):
				t.Errorf("name %q", name)
			}
		})
	}
}
