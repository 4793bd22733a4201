package waves

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// rig is a person's machine with programs that count their starts in a folder that orchestrator knows nothing of.
type rig struct {
	*e2e.Rig
	out string // what the programs read and write
}

// script is what such a program does: it notes its beginning, keeps its prompt, does what the files of its name say, prints
// its answer, and notes its end. Notes are appended in one write each, so that none is lost.
const script = `out=$1 name=$2
echo "begin $name $$" >>"$out/notes"
n=$(grep -c "^begin $name " "$out/notes")
cat >"$out/$name.prompt.$n"
[ ! -f "$out/$name.sleeps" ] || sleep "$(cat "$out/$name.sleeps")"
if [ -f "$out/$name.fails" ] && [ "$n" -le "$(cat "$out/$name.fails")" ]; then echo "fail $name $$" >>"$out/notes"; exit 3; fi
if [ -f "$out/$name.answer.$n" ]; then cat "$out/$name.answer.$n"; else cat "$out/$name.answer"; fi
echo "end $name $$" >>"$out/notes"
`

// newRig makes a machine in whose project programs work in its folder.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := e2e.NewRig(t)
	w := &rig{Rig: r, out: filepath.Join(filepath.Dir(r.Home), "out")}
	if err := os.MkdirAll(w.out, 0o700); err != nil {
		t.Fatal(err)
	}
	w.put("step.sh", script)
	return w
}

// newBare makes one whose project has no repository, so that nothing of it is kept beside the record.
func newBare(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	if err := os.RemoveAll(filepath.Join(r.Project, ".git")); err != nil {
		t.Fatal(err)
	}
	return r
}

// put writes a file that programs read.
func (r *rig) put(name, content string) {
	r.T.Helper()
	if err := os.WriteFile(filepath.Join(r.out, name), []byte(content), 0o600); err != nil {
		r.T.Fatal(err)
	}
}

// program makes an agent a program that answers with a text.
func (r *rig) program(a plan.Agent, answer string) plan.Agent {
	r.T.Helper()
	r.put(a.Name+".answer", answer)
	a.Agent, a.Program = "command", []string{"/bin/sh", filepath.Join(r.out, "step.sh"), r.out, a.Name}
	a.Writes = []string{"made-by-" + a.Name + "/**"}
	if a.Prompt == "" {
		a.Prompt = "Do the part of " + a.Name + "."
	}
	return a
}

// demo makes an agent the demo agent, which hands over a JSON value.
func demo(a plan.Agent, value string) plan.Agent {
	a.Agent = "demo"
	a.Prompt = strings.TrimSpace(a.Prompt + "\n\nHand over what you have found.\n#json: " + value)
	return a
}

// slow has a program sleep.
func (r *rig) slow(name string, d time.Duration) {
	r.T.Helper()
	r.put(name+".sleeps", fmt.Sprintf("%.3f", d.Seconds()))
}

// file writes a plan beside the project, where its person need not trust it first, and returns its path.
func (r *rig) file(p plan.Plan) string {
	r.T.Helper()
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		r.T.Fatal(err)
	}
	name := p.Name + ".json"
	r.put(name, string(b))
	return filepath.Join(r.out, name)
}

// begin begins a plan on a new task and returns the task's name.
func (r *rig) begin(p plan.Plan, flags ...string) string {
	r.T.Helper()
	return r.beginAs(p, "a task of "+p.Name, flags...)
}

// beginAs is begin with the task's title.
func (r *rig) beginAs(p plan.Plan, title string, flags ...string) string {
	r.T.Helper()
	args := append([]string{"wave", "run", "--detach", r.file(p), title}, flags...)
	return strings.TrimSpace(r.Ok(args...))
}

// ends waits until a task has one of some states.
func (r *rig) ends(task string, want ...plan.Status) (v wave.View) {
	r.T.Helper()
	for begin := time.Now(); time.Since(begin) < e2e.Patience; time.Sleep(50 * time.Millisecond) {
		v = r.Task(task)
		if slices.Contains(want, v.Task.Status) {
			return v
		}
		if v.Task.Status.Final() {
			break
		}
	}
	r.T.Fatalf("%s is %s (%s), want %v: %s", task, v.Task.Status, v.Task.Reason, want, r.said(v))
	return v
}

// is waits until a node of a task has one of some states.
func (r *rig) is(task, node string, want ...plan.NodeState) (n wave.NodeView) {
	r.T.Helper()
	e2e.Await(r.T, fmt.Sprintf("%s/%s to be %v", task, node, want), func() bool {
		n = nodeOf(r.T, r.Task(task), node)
		return slices.Contains(want, n.State)
	})
	return n
}

// nodeOf finds a node.
func nodeOf(t *testing.T, v wave.View, name string) wave.NodeView {
	t.Helper()
	i := slices.IndexFunc(v.Nodes, func(n wave.NodeView) bool { return n.Agent == name })
	if i < 0 {
		t.Fatalf("%s has no node %s", v.Task.Name, name)
	}
	return v.Nodes[i]
}

// said is a task in a line for each node, with its executions.
func (r *rig) said(v wave.View) string {
	r.T.Helper()
	var b strings.Builder
	for _, n := range v.Nodes {
		fmt.Fprintf(&b, "\n%s: %s, round %d, fence %d, %s %s %s %s", n.Agent, n.State, n.Round, n.Fence, n.Exec, n.Reason, n.Question, n.Error)
	}
	for _, x := range r.executions(v.Task.Name) {
		fmt.Fprintf(&b, "\n%s: %+v, %s, attempt %d: %s", x.Name, x.Part, x.State, x.Attempt, x.Reason)
	}
	return b.String()
}

// notes are the lines that programs wrote, without their process ids.
func (r *rig) notes() (all []string) {
	r.T.Helper()
	b, err := os.ReadFile(filepath.Join(r.out, "notes"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.T.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 {
			all = append(all, f[0]+" "+f[1])
		}
	}
	return all
}

// forget removes the notes and the prompts of what has run.
func (r *rig) forget() {
	r.T.Helper()
	prompts, err := filepath.Glob(filepath.Join(r.out, "*.prompt.*"))
	if err != nil {
		r.T.Fatal(err)
	}
	for _, file := range append(prompts, filepath.Join(r.out, "notes")) {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.T.Fatal(err)
		}
	}
}

// began counts the beginnings of a program.
func (r *rig) began(name string) (n int) {
	r.T.Helper()
	for _, line := range r.notes() {
		if line == "begin "+name {
			n++
		}
	}
	return n
}

// prompt is what a program read at one of its beginnings, from 1.
func (r *rig) prompt(name string, n int) string {
	r.T.Helper()
	b, err := os.ReadFile(filepath.Join(r.out, fmt.Sprintf("%s.prompt.%d", name, n)))
	if err != nil {
		r.T.Fatal(err)
	}
	return string(b)
}

// executions are those of a task's nodes, oldest first.
func (r *rig) executions(task string) (all []work.Execution) {
	r.T.Helper()
	for _, x := range e2e.Get[[]work.Execution](r.Rig, "exec", "list", "--limit", "1000") {
		if x.Part.Task == task {
			all = append(all, x)
		}
	}
	slices.Reverse(all)
	return all
}

// tasks are those of this project, newest first.
func (r *rig) tasks() (all []plan.Task) {
	r.T.Helper()
	for _, s := range e2e.Get[[]wave.Sum](r.Rig, "wave", "list", "-n", "1000") {
		all = append(all, s.Task)
	}
	return all
}

// handedOver are the versions of what an agent handed over, newest first.
func (r *rig) handedOver(task, agent string) (all []plan.HandOver) {
	r.T.Helper()
	n := nodeOf(r.T, r.Task(task), agent)
	for v := n.Version; v > 0; v-- {
		all = append(all, plan.HandOver{Agent: agent, Version: v, Current: v == n.Version, Data: n.Data})
	}
	return all
}
