package agenttest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// slims checks what holds for every agent whose base can be made smaller.
func slims(t *testing.T, s Subject) {
	b := newBench(t, s, s.NewVersion)
	a, ok := b.agent.(thread.Slimmer)
	if !ok {
		t.Skip("SKIPPED: the agent has no levers, so that nothing can be left out of it")
	}
	before := Hash(t, b.home) + Hash(t, b.dir)
	all, err := a.Levers(t.Context(), thread.WorldSpec{Dir: b.dir, Env: b.env, Flags: s.Flags})
	if err != nil {
		t.Fatal(err)
	}
	if all.Agent != b.agent.Name() || s.NewVersion != "" && all.Version != s.NewVersion {
		t.Errorf("levers of %s %s", all.Agent, all.Version)
	}
	var names []string
	for _, l := range all.Levers {
		checkLever(t, l)
		if slices.Contains(names, l.Name) {
			t.Errorf("two levers %s", l.Name)
		}
		names = append(names, l.Name)
	}
	for _, l := range all.Levers {
		for _, need := range l.Needs {
			i := slices.IndexFunc(all.Levers, func(o thread.Lever) bool { return o.Name == need })
			if i < 0 || slices.ContainsFunc(l.Profiles, func(p string) bool { return !slices.Contains(all.Levers[i].Profiles, p) }) {
				t.Errorf("%s needs %s, which does not go with it", l.Name, need)
			}
		}
	}
	slices.Sort(names)
	b.leavesOut(names)
	b.leavesOut(names[:len(names)/2])
	b.dividesTexts(a)
	if all := a.Surroundings(thread.WorldSpec{Dir: b.dir, Env: b.env, Flags: s.Flags}); len(all) > 0 {
		t.Errorf("an empty folder makes it larger: %+v", all)
	}
	if names := a.Missing("all is well: the tool was found"); len(names) > 0 {
		t.Errorf("misses %q", names)
	}
	if Hash(t, b.home)+Hash(t, b.dir) != before {
		t.Error("the person's files have changed")
	}
}

func checkLever(t *testing.T, l thread.Lever) {
	t.Helper()
	switch {
	case l.Name == "" || strings.ToLower(l.Name) != l.Name || strings.ContainsAny(l.Name, " _,"):
		t.Errorf("lever %q", l.Name)
	case len(strings.Fields(l.Lost)) < 3 || strings.HasSuffix(l.Lost, "."):
		t.Errorf("%s: lost: %q", l.Name, l.Lost)
	case l.Saves <= 0:
		t.Errorf("%s saves nothing", l.Name)
	}
	for _, p := range l.Profiles {
		if p == thread.BaseFull || !slices.Contains(thread.BaseProfiles(), p) {
			t.Errorf("%s: profile %q", l.Name, p)
		}
	}
	for _, word := range l.Words {
		one := thread.Levers{Levers: []thread.Lever{l}}
		said := "Please look at what is there, " + said(word) + " for once."
		if asked, _ := one.AskedFor([]string{l.Name}, said); word == "" || strings.ToLower(word) != word || len(asked) != 1 {
			t.Errorf("%s: word %q is not found in %q", l.Name, word, said)
		}
	}
	for _, name := range l.Named {
		if !l.LeavesOut(name) {
			t.Errorf("%s: %s is named, and does not go", l.Name, name)
		}
	}
}

// said is a word of a lever in a sentence: of the end of a name, a file that has it, of the begin of an address, one.
func said(word string) string {
	switch {
	case strings.HasPrefix(word, "."):
		return "docs/plan" + word
	case strings.HasSuffix(word, "://"):
		return word + "example.org/x"
	}
	return word
}

// leavesOut starts with levers: the same each time, before the person's own arguments, and what is not known is said.
func (b *bench) leavesOut(names []string) {
	b.t.Helper()
	spec := b.spec()
	if b.s.NewSession != nil && b.s.Resumes {
		spec.Session, spec.Resume = b.s.NewSession(), true
	}
	spec.Base = names
	spec.BaseURL, spec.HookURL = baseURL, hookURL
	spec.Flags.Args = append(slices.Clone(spec.Flags.Args), "--their-flag", "theirs")
	one := b.launch(spec)
	files := Hash(b.t, b.state)
	two := b.launch(spec)
	if !slices.Equal(one.Args, two.Args) || !slices.Equal(one.Env, two.Env) || files != Hash(b.t, b.state) {
		b.t.Errorf("%q: another start differs:\n%q\n%q", names, one.Args, two.Args)
	}
	for name, why := range one.Unused {
		if why == "" || !slices.Contains(names, name) {
			b.t.Errorf("%q is not used: %q", name, why)
		}
	}
	spec.Base = append(slices.Clone(names), "zz-unknown")
	three := b.launch(spec)
	if !slices.Equal(one.Args, three.Args) || three.Unused["zz-unknown"] == "" {
		b.t.Errorf("an unknown name: %q, unused %q", three.Args, three.Unused)
	}
	spec.Base = nil
	if l := b.launch(spec); l.Unused != nil {
		b.t.Errorf("nothing is left out, and %q is not used", l.Unused)
	}
}

// dividesTexts divides texts: not a byte is lost, whatever stands in them.
func (b *bench) dividesTexts(a thread.Slimmer) {
	b.t.Helper()
	lines := []string{
		"You are an agent.", "# Heading", "", "<session_context>", "</session_context>", "<environment_context>",
		"</environment_context>", "--- Context from: /a/GEMINI.md ---", "--- End of Context from: /a/GEMINI.md ---",
		"# AGENTS.md instructions for /a", "<INSTRUCTIONS>", "</INSTRUCTIONS>", "--- project-doc ---", "<skills_instructions>",
		"# Available Agent Skills", "# Available Sub-Agents", "Instructions from: /a/AGENTS.md", "<tools>", "\xff\x00<tools",
		"You are powered by the model named x", "Contents of /a/CLAUDE.md (project instructions):", "<system-reminder>",
	}
	kinds := []thread.BaseKind{thread.BaseSystem, thread.BaseOther, thread.BasePrompt, thread.BaseTool, thread.BaseMCP}
	for i := range lines {
		var texts []thread.BaseText
		for j, kind := range kinds {
			n := (i + j*7) % len(lines)
			text := strings.Join(slices.Concat(lines[n:], lines[:n]), "\n")
			texts = append(texts, thread.BaseText{Kind: kind, Name: "x", Text: text}, thread.BaseText{Kind: kind, Text: lines[n] + "\n"})
		}
		var want, got strings.Builder
		for _, one := range texts {
			want.WriteString(one.Text)
		}
		for _, one := range a.BaseParts(texts) {
			got.WriteString(one.Text)
			if one.Kind == "" {
				b.t.Errorf("a part without a kind: %q", one.Text)
			}
		}
		if got.String() != want.String() {
			b.t.Fatalf("divided:\n%q\nwant\n%q", got.String(), want.String())
		}
	}
}

// Kept is a case of what keeps levers.
type Kept struct {
	Name  string
	Files map[string]string // below the root; the folder is work, a repository, and the home is home
	Flags thread.Flags
	Env   []string // ROOT stands for the root
	Model string
	Want  map[string]string // part of why a lever is kept; all others are not
	// Unused is as Want, for a start with all levers.
	Unused map[string]string
}

// Keeps tries cases with a program of the version in home/bin.
func Keeps(t *testing.T, s Subject, version string, cases []Kept) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir, home := filepath.Join(root, "work"), filepath.Join(root, "home")
			Put(t, filepath.Join(dir, ".git", "HEAD"), "")
			Put(t, filepath.Join(home, "bin", "none"), "")
			Fake(t, filepath.Join(home, "bin", s.Command), version)
			for name, text := range c.Files {
				Put(t, filepath.Join(root, name), strings.ReplaceAll(text, "ROOT", root))
			}
			env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin"}
			for _, kv := range c.Env {
				env = append(env, strings.ReplaceAll(kv, "ROOT", root))
			}
			a := s.New(launch.Config{Env: env})
			slimmer, ok := a.(thread.Slimmer)
			if !ok {
				t.Fatal("nothing can be left out of it")
			}
			before := Hash(t, home) + Hash(t, dir)
			all, err := slimmer.Levers(t.Context(), thread.WorldSpec{Dir: dir, Env: env, Flags: c.Flags, Model: c.Model})
			if err != nil {
				t.Fatal(err)
			}
			kept := map[string]string{}
			var names []string
			for _, l := range all.Levers {
				names = append(names, l.Name)
				if l.Kept != "" {
					kept[l.Name] = l.Kept
				}
			}
			sameReasons(t, "kept", kept, c.Want)
			slices.Sort(names)
			l, err := a.Launch(t.Context(), thread.LaunchSpec{
				Thread: "0123456789abcdef", Dir: dir, StateDir: filepath.Join(root, "state"), Env: env, Flags: c.Flags, Model: c.Model,
				Base: names,
			})
			if err != nil {
				t.Fatal(err)
			}
			sameReasons(t, "unused", l.Unused, c.Unused)
			if Hash(t, home)+Hash(t, dir) != before {
				t.Error("the person's files have changed")
			}
		})
	}
}

func sameReasons(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, why := range want {
		if !strings.Contains(got[name], why) {
			t.Errorf("%s: %s because %q, want %q", what, name, got[name], why)
		}
	}
	for name, why := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s because %q", what, name, why)
		}
	}
}

// Parts divides texts and compares the kinds and names of the parts, without those that are blank.
func Parts(t *testing.T, a thread.Slimmer, texts []thread.BaseText, want []string) {
	t.Helper()
	var whole, joined strings.Builder
	var got []string
	for _, one := range texts {
		whole.WriteString(one.Text)
	}
	for _, one := range a.BaseParts(texts) {
		joined.WriteString(one.Text)
		if strings.TrimSpace(one.Text) != "" {
			got = append(got, strings.TrimSpace(string(one.Kind)+" "+one.Name))
		}
	}
	if whole.String() != joined.String() {
		t.Errorf("%q was divided into %q", whole.String(), joined.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("parts\n%q, want\n%q", got, want)
	}
}

// Missing compares the tools that texts say are not there: one or, for "", none.
func Missing(t *testing.T, a thread.Slimmer, cases map[string]string) {
	t.Helper()
	for text, want := range cases {
		got := a.Missing(text)
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%q says that %q is missing, want %q", text, got, want)
		}
	}
}

// Around8K writes large files below a root with the folders work, a repository, and home, whose warnings are to name the
// given ends of paths, and other files that are to bring one more warning with the given text.
func Around8K(t *testing.T, a thread.Slimmer, large, more map[string]string, text string) {
	t.Helper()
	root := t.TempDir()
	Put(t, filepath.Join(root, "work", ".git", "HEAD"), "")
	for name := range large {
		Put(t, filepath.Join(root, name), strings.Repeat("one more rule\n", 700))
	}
	for name, text := range more {
		Put(t, filepath.Join(root, name), text)
	}
	all := a.Surroundings(thread.WorldSpec{Dir: filepath.Join(root, "work", "sub"), Env: []string{"HOME=" + filepath.Join(root, "home")}})
	if len(all) != len(large)+1 {
		t.Errorf("%d warnings, want %d: %+v", len(all), len(large)+1, all)
	}
	has := func(part string) bool {
		return slices.ContainsFunc(all, func(w thread.BaseWarning) bool { return strings.Contains(w.What, part) && w.Do != "" })
	}
	for _, end := range large {
		if !has(end) {
			t.Errorf("nothing is said of %s: %+v", end, all)
		}
	}
	if !has(text) {
		t.Errorf("nothing says %q: %+v", text, all)
	}
}
