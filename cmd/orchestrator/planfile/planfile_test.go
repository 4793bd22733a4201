package planfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

const asTOML = `
name = "brief"
max_parallel = 3
[variables.tone]
type = "choice"
choices = ["dry", "warm"]
default = "dry"
[variables.n]
type = "integer"
default = 3
[[agents]]
name = "vision"
prompt = "Look at {{task}}"
deadline = "10m"
schema = {type = "object", properties = {a = {type = "number", minimum = 0.5}}}
[[agents]]
name = "echo"
reads = ["vision"]
prompt = """
{{vision.data.a}} [[[ {{var.tone}}
"""
[[gates]]
name = "look"
after = 1
text = "Good?"
[stall]
silence = "5m"
`

const asJSON = `{"name":"brief","max_parallel":3,
"variables":{"tone":{"type":"choice","choices":["dry","warm"],"default":"dry"},"n":{"type":"integer","default":3}},
"agents":[{"name":"vision","prompt":"Look at {{task}}","deadline":"10m","schema":{"properties":{"a":{"minimum":0.5,"type":"number"}},"type":"object"}},
{"name":"echo","reads":["vision"],"prompt":"{{vision.data.a}} [[[ {{var.tone}}\n"}],
"gates":[{"name":"look","after":1,"text":"Good?"}],"stall":{"silence":"5m"}}`

// A plan is the same in both languages.
func TestDecode(t *testing.T) {
	one, err := Decode("x.toml", []byte(asTOML))
	if err != nil {
		t.Fatal(err)
	}
	other, err := Decode("x.JSON", []byte(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(one, other) {
		t.Errorf("%+v\n%+v", one, other)
	}
	if one.Agents[0].Deadline != plan.Duration(10*time.Minute) || string(one.Variables["n"].Default) != "3" || *one.Stall.Silence != plan.Duration(5*time.Minute) {
		t.Errorf("%+v", one)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"x.toml:[[agents]]\nname = \"a\"\npromt = \"x\"": "agents[0] has no key \"promt\". Did you mean prompt?",
		"x.toml:agnets = 1":                                            "a plan has no key \"agnets\". Did you mean agents?",
		"x.toml:name = \"a\"\nname = \"b\"":                            "already defined",
		"x.toml:name = ":                                               "line 1",
		"x.toml:agents = 5":                                            "agents is a number",
		"x.toml:[[agents]]\ndeadline = \"soon\"":                       "\"soon\" is no time",
		"x.toml:[variables.x]\ndefault = nan":                          "no equal in JSON",
		"x.toml:x = " + strings.Repeat("[", 5_000_000):                 "nested more than 200",
		"x.json:{\"name\":\"a\",\n\"Agents\":[]}":                      "line 2: a plan has no key \"Agents\". Did you mean agents?",
		"x.json:{\"name\":\"a\",\"name\":\"b\"}":                       "name is there twice",
		"x.json:{\"agents\":[{\"wave\":1.5}]}":                         "wave is a number 1.5",
		"x.json:{\"agents\":{}}":                                       "agents",
		"x.json:{\"name\":{\"a\":1}}":                                  "name is not made of parts",
		"x.json:{} {}":                                                 "more behind the end",
		"x.json:{\"agents\":[{\"schema\":{\"a\":1,\"a\":2}}]}":         "agents[0].schema.a is there twice",
		"x.json:" + strings.Repeat("[", 5_000_000):                     "",
		"x.json:{\"agents\":[{\"schema\":" + strings.Repeat("[", 5000): "nested more than 200",
		"x.json:":                   "no JSON",
		"x.json:{\"\x1b[2J\":1}":    "no JSON",
		"x.json:{\"\\u001b[2J\":1}": "has no key",
		"x.yaml:name: a":            "neither TOML nor JSON",
	} {
		name, text, _ := strings.Cut(text, ":")
		_, err := Decode(name, []byte(text))
		if !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), want) || strings.ContainsRune(err.Error(), 0x1b) || len(err.Error()) > 600 {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}

// project makes a project's folder, and one with a person's configuration.
func project(t *testing.T, files map[string]string) Library {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return New(filepath.Join(dir, "project"), filepath.Join(dir, "config"))
}

const small = "[[agents]]\nname = \"a\"\nprompt_file = \"p/a.md\"\nschema_file = \"a.json\"\n"

func TestFind(t *testing.T) {
	l := project(t, map[string]string{
		"project/.orchestrator.d/plans/one.toml": small, "project/.orchestrator.d/plans/p/a.md": "Do {{task}}\r\n", "project/.orchestrator.d/plans/a.json": " {\"b\":1,\"a\":1.0}\n",
		"config/orchestrator/plans/mine.json": `{"agents":[{"name":"a","prompt":"x"}]}`, "config/orchestrator/plans/both.json": `{}`, "project/.orchestrator.d/plans/both.toml": "",
		"elsewhere/own.toml": small, "elsewhere/p/a.md": "y", "elsewhere/a.json": "{}",
		"project/docs/in.json": `{"agents":[{"name":"a","prompt":"x"}]}`,
	})
	f, err := l.Find("one", "/")
	if err != nil {
		t.Fatal(err)
	}
	a := f.Plan.Agents[0]
	if !f.Asks || f.Plan.Name != "one" || a.Prompt != "Do {{task}}\r\n" || string(a.Schema) != `{"b":1,"a":1.0}` || a.PromptFile+a.SchemaFile != "" || len(f.Parts) != 3 {
		t.Errorf("%+v", f)
	}
	for ref, asks := range map[string]bool{"mine": false, l.Project + "/../elsewhere/own.toml": false, "in.json": true, "../docs/in.json": true} {
		f, err := l.Find(ref, filepath.Join(l.Project, "docs"))
		if err != nil || f.Asks != asks {
			t.Errorf("%s: %v %v", ref, f.Asks, err)
		}
	}
	for ref, want := range map[string]string{"both": "several plans", "oen": "Did you mean one?", "nothing.toml": "no file", "\x1b": "no plan"} {
		if _, err := l.Find(ref, l.Project); err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "there is no nothing.toml") || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if got := len(l.List()); got != 5 {
		t.Error(l.List())
	}
}

// What is accepted is each byte: of the plan, of what it names, and of programs of the project.
func TestContentIsEachByte(t *testing.T) {
	files := map[string]string{
		"project/.orchestrator.d/plans/one.toml": small + "agent = \"command\"\nprogram = [\"./tools/x.sh\", \"-v\"]\n",
		"project/.orchestrator.d/plans/p/a.md":   "Do", "project/.orchestrator.d/plans/a.json": "{}", "project/tools/x.sh": "echo",
	}
	l := project(t, files)
	find := func() []byte {
		f, err := l.Find("one", "/")
		if err != nil {
			t.Fatal(err)
		}
		return f.Content()
	}
	was := find()
	if !bytes.Equal(was, find()) {
		t.Error("the same files have another content")
	}
	for name := range files {
		path := filepath.Join(filepath.Dir(l.Project), name)
		old, _ := os.ReadFile(path)
		if err := os.WriteFile(path, append(old, ' '), 0o644); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(was, find()) {
			t.Errorf("a byte more in %s is not seen", name)
		}
		if err := os.WriteFile(path, old, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// a plan of the person's own that has the project bring a program asks, too
	own := filepath.Join(filepath.Dir(l.Project), "own.json")
	if err := os.WriteFile(own, []byte(`{"agents":[{"name":"a","prompt":"x","program":["tools/x.sh"]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if f, err := l.Find(own, "/"); err != nil || !f.Asks {
		t.Error(f.Asks, err)
	}
}

// Nothing outside of the plan's folder is read, neither by name nor through a link.
func TestNothingLeadsOut(t *testing.T) {
	for name, c := range map[string]struct{ prompt, from, to, want string }{
		"up":           {prompt: "../secret", want: "leads out"},
		"absolute":     {prompt: "/etc/passwd", want: "leads out"},
		"link":         {prompt: "l", from: "l", to: "../../../secret", want: "is a link"},
		"link inside":  {prompt: "l", from: "l", to: "one.toml", want: "is a link"},
		"folder":       {prompt: "d/secret", from: "d", to: "../../..", want: "is a link"},
		"plan":         {prompt: "p", from: "two.toml", to: "../../../secret", want: "is a link"},
		"not there":    {prompt: "nothing", want: "there is no nothing"},
		"is a folder":  {prompt: ".", want: "is no file"},
		"plans itself": {prompt: "p", from: "../../../project2", to: "project", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := project(t, map[string]string{"project/.orchestrator.d/plans/one.toml": "[[agents]]\nname = \"a\"\nprompt_file = \"" + c.prompt + "\"\n",
				"project/.orchestrator.d/plans/p": "x", "secret": "SECRET"})
			if c.from != "" {
				if err := os.Symlink(c.to, filepath.Join(l.Project, Folder, c.from)); err != nil {
					t.Fatal(err)
				}
			}
			ref := "one"
			if c.from == "two.toml" {
				ref = "two"
			}
			f, err := l.Find(ref, "/")
			if c.want == "" {
				// through another way to the project, the plan is still the project's
				f, err = l.Find(filepath.Join(filepath.Dir(l.Project), "project2", Folder, "one.toml"), "/")
				if err != nil || !f.Asks || f.Place() != "plan:"+filepath.Join(l.Project, Folder, "one.toml") {
					t.Error(f.Asks, f.Place(), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%+v %v", f, err)
			}
		})
	}
}

// The folder of plans may be a link out of the project, or a pipe stand in a file's place.
func TestOddFolders(t *testing.T) {
	l := project(t, map[string]string{"project/x": "", "secret/one.toml": small})
	if err := os.MkdirAll(filepath.Join(l.Project, ".orchestrator.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../secret", filepath.Join(l.Project, Folder)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Find("one", "/"); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Error(err)
	}
	pipe := filepath.Join(filepath.Dir(l.Project), "pipe.toml")
	if err := mkfifo(pipe); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Find(pipe, "/"); err == nil || !strings.Contains(err.Error(), "is no file") {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("x.toml", asTOML)
	f.Add("x.json", asJSON)
	f.Add("x.toml", "a = [[1,{b=\"]\"}],'''x''']")
	f.Add("x.json", `{"agents":[{"schema":[{"a":{"b":[]}}]}]}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		p, err := Decode(name, []byte(text))
		if err != nil {
			if strings.ContainsRune(err.Error(), 0x1b) || len(err.Error()) > 1000 {
				t.Errorf("%q", err)
			}
			return
		}
		if _, err := plan.Hash(p); err != nil {
			t.Errorf("what was read has no hash: %v", err)
		}
	})
}

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// What runs is what was accepted, though the file is another one by then; one that is not what was accepted does not run.
func TestCopies(t *testing.T) {
	l := project(t, map[string]string{"project/tools/x.sh": "echo accepted", "project/.orchestrator.d/plans/one.json": `{"agents":[{"name":"a","prompt":"x","program":["tools/x.sh","-v"],"program_files":{"tools/x.sh":"0"}},` +
		`{"name":"b","prompt":"x","program":["sh","-c","exec ./tools/x.sh 'y'"]},{"name":"c","prompt":"x","program":["cat"]}]}`})
	script := filepath.Join(l.Project, "tools/x.sh")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := l.Find("one", "/")
	if err != nil {
		t.Fatal(err)
	}
	agents := f.Plan.Agents
	c := Copies{Project: l.Project, Folder: filepath.Join(t.TempDir(), "programs")}
	if err := os.WriteFile(script, []byte("echo other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Argv(agents[0]); !errors.Is(err, thread.ErrRefused) || !strings.Contains(err.Error(), "changed since") {
		t.Error(err)
	}
	if err := os.WriteFile(script, []byte("echo accepted"), 0o755); err != nil {
		t.Fatal(err)
	}
	argv, err := c.Argv(agents[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(argv[0])
	info, statErr := os.Stat(argv[0])
	if err != nil || statErr != nil || string(content) != "echo accepted" || argv[1] != "-v" || info.Mode().Perm() != 0o500 || !strings.HasPrefix(argv[0], c.Folder) {
		t.Error(argv, string(content), err, info.Mode())
	}
	if line, err := c.Argv(agents[1]); err != nil || line[2] != "exec "+argv[0]+" 'y'" || line[0] != "sh" {
		t.Error(line, err)
	}
	if plain, err := c.Argv(agents[2]); err != nil || !reflect.DeepEqual(plain, []string{"cat"}) {
		t.Error(plain, err)
	}
	// a copy that somebody has changed is not taken
	if err := os.Chmod(argv[0], 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(argv[0], []byte("echo evil"), 0o700); err != nil {
		t.Fatal(err)
	}
	if again, err := c.Argv(agents[0]); !errors.Is(err, thread.ErrRefused) {
		t.Error(again, err)
	}
	agents[0].ProgramFiles = map[string]string{"../x": "0"}
	if _, err := c.Argv(agents[0]); !errors.Is(err, thread.ErrInvalid) {
		t.Error(err)
	}
}
