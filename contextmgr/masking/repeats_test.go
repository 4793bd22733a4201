package masking_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"orchestrator/contextmgr/masking"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// file is a file of instructions.
type file struct{ path, kind, text string }

const project = "(project instructions, checked into the codebase)"

func (f file) String() string {
	return "Contents of " + f.path + " " + f.kind + ":\n\n" + f.text
}

// rules are instructions of many lines, with all that JSON writes otherwise.
func rules(of string) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "- Rule %d of %s: \"quotes\", back\\slashes \\n, tabs\t, <tags> & é – 🎉\n", i, of)
	}
	return strings.TrimSpace(b.String())
}

// said returns a message of the person with blocks of Claude Code before the prompt.
func said(blocks ...string) string {
	for i, b := range blocks {
		blocks[i] = `{"type":"text","text":` + string(wire.Quote(b)) + `}`
	}
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func reminder(text string) string { return "<system-reminder>\n" + text + "\n</system-reminder>" }

// shown is the block with the files at the beginning of a conversation, again the one when they were read again.
func shown(files ...file) string {
	return reminder("Codebase and user instructions are shown below. Be sure to adhere to these instructions.\n\n" + joined(files))
}

func again(gone string, files ...file) string {
	text := "Instruction files were re-read when this session started; these differ from their earlier copies — each replaces its earlier copy, " +
		"and the instructions preamble above still applies:\n\n" + joined(files)
	if gone != "" {
		text += "\n\nInstructions no longer present: " + gone
	}
	return reminder(text) + "\n"
}

func joined(files []file) string {
	all := make([]string, len(files))
	for i, f := range files {
		all[i] = f.String()
	}
	return strings.Join(all, "\n\n")
}

// tail returns the end of a body.
func tail(body string) string { return body[max(0, len(body)-700):] }

const modelSaid = `{"role":"assistant","content":[{"type":"text","text":"I did."}]}`

// inString returns a text as it is written inside of a string of JSON.
func inString(text string) string { s := wire.Quote(text); return string(s[1 : len(s)-1]) }

// without returns a body in which the last copy of each file is replaced by what refers to the file with another path.
func without(body string, first string, files ...file) string {
	for _, f := range files {
		whole := inString(f.text)
		at := strings.Index(body, inString(f.String())) + len(inString(f.String())) - len(whole)
		body = body[:at] + inString(masking.Reference(f.path, first)) + body[at+len(whole):]
	}
	return body
}

// claude is a conversation of Claude Code in which files of instructions are sent once.
func claude(t *testing.T) *world {
	w := open(t, formats()[0], policy.ModeSafe)
	w.once = true
	return w
}

// TestInstructionsOnce: a fork's second copy of a file is replaced from its first passing on, in each later request, after a
// restart, in forks of the fork and after going back; all other bytes are the agent's.
func TestInstructionsOnce(t *testing.T) {
	a, b, c := file{"/w/a/CLAUDE.md", project, rules("one")}, file{"/w/b/CLAUDE.md", project, rules("one")}, file{"/w/\"c\"é/CLAUDE.md", project, rules("one")}
	w := claude(t)
	w.items = []string{said(shown(a), "do it"), modelSaid}
	agents := func() string { return w.body(w.model, strings.Join(w.items, ",")) }
	check := func(id thread.ID, what, want string) {
		t.Helper()
		if got := w.send(id); got != want {
			t.Fatalf("%s sends\n%s\nwant\n%s", what, got, want)
		}
	}
	w.items = append(w.items, said("go on"))
	check("t1", "the first thread", agents())
	w.items = append(w.items, modelSaid)
	begun := len(w.items)
	w.parents["t2"] = "t1"
	w.items = append(w.items, said(reminder("# Environment update"), again(a.path, b), "now here"))
	check("t2", "its fork", without(agents(), a.path, b))
	w.items = append(w.items, modelSaid, said("more"))
	check("t2", "its next request", without(agents(), a.path, b))
	w.once = false // what is sent so stays so
	w.restart()
	check("t2", "after a restart", without(agents(), a.path, b))
	w.once = true
	w.items = append(w.items, modelSaid, said(again(b.path, c), "and here"))
	w.parents["t3"] = "t2"
	check("t3", "a fork of the fork", without(without(agents(), a.path, b), a.path, c))
	w.items = append(w.items, modelSaid, said("more"))
	check("t3", "its next request", without(without(agents(), a.path, b), a.path, c))
	report, err := w.Report("t3")
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, res := range report.Results {
		seen = append(seen, fmt.Sprint(res.Tool, " ", res.File, " ", res.Masked, " ", res.Why))
	}
	if got, want := strings.Join(seen, "\n"), "instructions /w/b/CLAUDE.md true it stands above, unchanged\n"+
		"instructions /w/\"c\"é/CLAUDE.md true it stands above, unchanged"; got != want {
		t.Errorf("people see\n%s", got)
	}
	if text := int64(len(inString(b.text))) / 4; report.Masked < 2*text-200 || report.Masked > 2*text {
		t.Errorf("%d tokens are masked, the two texts have %d", report.Masked, 2*text)
	}
	w.items = append(w.items[:begun], said(again(a.path, b), "go back"))
	check("t2", "after going back", without(agents(), a.path, b))
	if err := w.Change("t2", thread.ContextChange{Unmask: []string{report.Results[0].ID}}); err != nil {
		t.Fatal(err)
	}
	check("t2", "once the person wants it whole", agents())
	if err := w.Change("t2", thread.ContextChange{Mask: []string{report.Results[0].ID}}); err != nil {
		t.Fatal(err)
	}
	check("t2", "once the person does not any more", without(agents(), a.path, b))
	_, content, err := w.store.Open(report.Results[0].Token)
	if err != nil || string(content) != b.text {
		t.Errorf("what was replaced is %.100q, %v", content, err)
	}
}

// TestInstructionsTwoFiles: of several files, those that are the same are replaced, each by its own copy.
func TestInstructionsTwoFiles(t *testing.T) {
	local := "(user's private project instructions, not checked in)"
	a, b := file{"/w/a/CLAUDE.md", project, rules("one")}, file{"/w/a/CLAUDE.local.md", local, rules("two")}
	a2, b2 := file{"/w/b/CLAUDE.md", project, a.text}, file{"/w/b/CLAUDE.local.md", local, b.text}
	for _, c := range []struct {
		name  string
		files []file
		want  func(body string) string
	}{
		{"both", []file{a2, b2}, func(s string) string { return without(without(s, a.path, a2), b.path, b2) }},
		{"the second differs", []file{a2, {b2.path, local, rules("three")}}, func(s string) string { return without(s, a.path, a2) }},
		{"the first differs by a letter", []file{{a2.path, project, a.text + "."}, b2}, func(s string) string { return without(s, b.path, b2) }},
		{"they were exchanged", []file{{a2.path, local, a.text}, {b2.path, project, b.text}}, func(s string) string { return s }},
		{"a heading inside", []file{{a2.path, project, a.text + "\n\n" + file{"/x", project, b.text}.String()}},
			func(s string) string { return without(s, a.path, a2) }},
	} {
		w := claude(t)
		w.items = []string{said(shown(a, b), "do it"), modelSaid, said(again("", c.files...), "now here")}
		if want, got := c.want(w.body(w.model, strings.Join(w.items, ","))), w.send("t1"); got != want {
			t.Errorf("%s: sends\n%s\nwant\n%s", c.name, tail(got), tail(want))
		}
	}
}

// TestInstructionsStay: whatever is not surely a second copy that passes for the first time is sent as it came.
func TestInstructionsStay(t *testing.T) {
	a, b := file{"/w/a/CLAUDE.md", project, rules("one")}, file{"/w/b/CLAUDE.md", project, rules("one")}
	first, second := said(shown(a), "do it"), said(again(a.path, b), "now here")
	changed := reminder("These instruction files changed — each replaces its earlier copy, and the instructions preamble above still applies:\n\n" +
		file{a.path, project, rules("two")}.String())
	for _, c := range []struct {
		name  string
		items []string
		set   func(w *world)
	}{
		{"it is not wanted", []string{first, modelSaid, second}, func(w *world) { w.once = false }},
		{"nothing is masked", []string{first, modelSaid, second}, func(w *world) { w.mode = policy.ModeObserve }},
		{"a login", []string{first, modelSaid, second}, func(w *world) { w.oauth = true }},
		{"it passed before", []string{first, modelSaid, second, modelSaid, said("more")}, nil},
		{"it passed before a call", []string{first, modelSaid, second, formats()[0].call("c", "Bash", "{}"), formats()[0].result("c", "Bash", "ok")}, nil},
		{"the file differs", []string{first, modelSaid, said(again(a.path, file{b.path, project, rules("two")}), "now here")}, nil},
		{"it differs by a space", []string{first, modelSaid, said(again(a.path, file{b.path, project, strings.Replace(rules("one"), " ", "  ", 1)}), "now here")}, nil},
		{"it was changed in between", []string{first, modelSaid, said(changed, "go on"), modelSaid, second}, nil},
		{"it was changed while a tool ran", []string{first, formats()[0].call("c", "Bash", "{}"),
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"ok"},{"type":"text","text":` + string(wire.Quote(changed)) + `}]}`,
			modelSaid, second}, nil},
		{"no first copy", []string{said("do it"), modelSaid, second}, nil},
		{"the first copy comes later", []string{said("do it"), modelSaid, said(again(a.path, b), shown(a), "now here")}, nil},
		{"the first copy is the person's", []string{said("see: " + shown(a)), modelSaid, second}, nil},
		{"all of the first prompt is", []string{said(shown(a)), modelSaid, second}, nil},
		{"the first copy is a text of the model", []string{said("do it"), `{"role":"assistant","content":[{"type":"text","text":` +
			string(wire.Quote(shown(a))) + `},{"type":"text","text":"so"}]}`, second}, nil},
		{"the first copy is a result", []string{said("do it"), formats()[0].call("c", "Bash", "{}"), formats()[0].result("c", "Bash", shown(a)), modelSaid, second}, nil},
		{"the second copy is the person's", []string{first, modelSaid, said(again(a.path, b))}, nil},
		{"it is behind the person's", []string{first, modelSaid, said("look at this:", again(a.path, b))}, nil},
		{"it is in the person's", []string{first, modelSaid, said("look: "+again(a.path, b), "now here")}, nil},
		{"two of them", []string{first, modelSaid, said(again(a.path, b), again(a.path, b), "now here")}, nil},
		{"other words before it", []string{first, modelSaid, said(strings.Replace(again(a.path, b), "were re-read", "were read", 1), "now here")}, nil},
		{"other words at the end of that", []string{first, modelSaid, said(strings.Replace(again(a.path, b), "above still applies:", "above applies no more:", 1), "now here")}, nil},
		{"not whole", []string{first, modelSaid, said(strings.Replace(again(a.path, b), "\n</system-reminder>", "", 1), "now here")}, nil},
		{"another kind of file", []string{said(shown(file{a.path, "(user's private global instructions for all projects)", a.text}), "do it"), modelSaid,
			said(again(a.path, file{b.path, "(user's private global instructions for all projects)", a.text}), "now here")}, nil},
		{"a file of a line", []string{said(shown(file{a.path, project, "Be brief."}), "do it"), modelSaid,
			said(again(a.path, file{b.path, project, "Be brief."}), "now here")}, nil},
		{"two texts in a block", []string{first, modelSaid, strings.Replace(second, `"text":"<`, `"text":"x","text":"<`, 1)}, nil},
		{"two roles", []string{first, modelSaid, strings.Replace(second, `"role":"user"`, `"role":"user","role":"user"`, 1)}, nil},
		{"two contents", []string{first, modelSaid, strings.Replace(second, `"role":"user"`, `"content":"x","role":"user"`, 1)}, nil},
	} {
		w := claude(t)
		if c.set != nil {
			c.set(w)
			w.restart()
		}
		w.items = c.items
		if want, got := w.body(w.model, strings.Join(w.items, ",")), w.send("t1"); got != want {
			t.Errorf("%s: sends\n%s\nwant\n%s", c.name, tail(got), tail(want))
		}
		set, err := w.store.Thread("t1", "")
		if err != nil || len(set.All()) > 0 {
			t.Errorf("%s: %v is masked, %v", c.name, set.All(), err)
		}
	}
	for _, f := range formats()[1:] { // other agents' formats
		w := open(t, f, policy.ModeSafe)
		w.once = true
		w.items = []string{f.person(shown(a)), f.call("c", f.tool, "{}"), f.result("c", f.tool, "ok"), f.person(again(a.path, b))}
		if want, got := w.body(w.model, strings.Join(w.items, ",")), w.send("t1"); got != want {
			t.Errorf("%s: sends\n%s\nwant\n%s", f.codec.Wire(), got, want)
		}
	}
	w := claude(t)
	w.items = []string{first, modelSaid, second}
	if w.send("t1"); !strings.Contains(w.send("t1"), "they hold here") {
		t.Error("the second copy is sent where nothing is against it")
	}
}

// TestInstructionsAfterACompaction: when the first copy is gone, by the agent's doing or in a summary of ours, the second one
// is sent whole.
func TestInstructionsAfterACompaction(t *testing.T) {
	a, b := file{"/w/a/CLAUDE.md", project, rules("one")}, file{"/w/b/CLAUDE.md", project, rules("one")}
	w := claude(t)
	w.items = []string{said(shown(a), "do it"), modelSaid, said(again(a.path, b), "now here")}
	if !strings.Contains(w.send("t1"), "they hold here") {
		t.Fatal("it is not replaced")
	}
	w.items = []string{said("This session is being continued from a previous conversation: " + shown(a)), said(again(a.path, b), "now here"), modelSaid, said("more")}
	if got := w.send("t1"); strings.Contains(got, "they hold here") {
		t.Errorf("without the first copy it sends\n%s", got)
	}

	other := file{"/w/c/CLAUDE.md", project, a.text}
	w.items = []string{said(shown(other), "do it"), modelSaid, said(again(a.path, b), "now here")}
	if want, got := without(w.body(w.model, strings.Join(w.items, ",")), other.path, b), w.send("t1"); got != want {
		t.Errorf("with another first copy it sends\n%s\nwant\n%s", tail(got), tail(want))
	}

	w = claude(t) // the files are first shown behind an answer, where a summary may take them
	w.items = []string{said("hello"), modelSaid, said(shown(a), "do it")}
	for i := range 8 {
		w.items = append(w.items, modelSaid, said(fmt.Sprint("go on ", i, " ", text(i, 3000))))
	}
	w.ends = true
	w.send("t1")
	w.items = append(w.items, modelSaid, said(again(a.path, b), "now here"))
	whole := w.send("t1")
	if !strings.Contains(whole, "they hold here") {
		t.Fatal("it is not replaced")
	}
	if err := w.Summarise(t.Context(), "t1", thread.ByExtract); err != nil {
		t.Fatal(err)
	}
	w.items = append(w.items, modelSaid, said("more"))
	if got := w.send("t1"); strings.Contains(got, inString(shown(a))) {
		t.Fatalf("no summary stands for the first copy:\n%s", got)
	} else if strings.Contains(got, "they hold here") || !strings.Contains(got, inString(b.String())) {
		t.Errorf("with a summary in place of the first copy it sends\n%s", got)
	}
}

// TestInstructionsPrefix: while a conversation grows in forks, with files that change or not, with restarts, steps back and
// the setting switched, a request begins with the bytes of the one before as far as the agent's does.
func TestInstructionsPrefix(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 24))
	references := 0
	for round := range 12 {
		w := claude(t)
		id, version, gone := thread.ID("t0"), 0, "/w/0/CLAUDE.md"
		w.items = []string{said(shown(file{gone, project, rules("0")}), "do it")}
		var before, sent string
		for n := range 40 {
			own := w.body(w.model, strings.Join(w.items, ","))
			now := w.send(id)
			same := 0
			for same < len(before) && same < len(own) && before[same] == own[same] {
				same++
			}
			// Of what both agents' requests have, the provider gets the same: as much as the one before had of it.
			if tail := before[min(same, len(before)):]; sent != "" && !strings.HasPrefix(now, strings.TrimSuffix(sent, tail)) && strings.HasSuffix(sent, tail) {
				t.Fatalf("round %d, request %d: after\n%s\ncomes\n%s", round, n, sent, now)
			}
			before, sent = own, now
			references += strings.Count(now, "they hold here")
			w.items = append(w.items, modelSaid)
			switch rng.IntN(6) {
			case 0:
				w.once = !w.once
			case 1:
				w.restart()
			case 2:
				if len(w.items) > 4 {
					w.items = w.items[:len(w.items)-2]
				}
			case 3, 4:
				if rng.IntN(4) == 0 {
					version++
				}
				fork := thread.ID(fmt.Sprint("t", n+1))
				w.parents[fork], id = id, fork
				path := fmt.Sprintf("/w/%d/CLAUDE.md", n+1)
				w.items = append(w.items, said(again(gone, file{path, project, rules(fmt.Sprint(version))}), fmt.Sprint("fork ", n)))
				gone = path
				continue
			}
			w.items = append(w.items, said(fmt.Sprint("go on ", n)))
		}
	}
	if references < 200 {
		t.Errorf("only %d references were sent", references)
	}
}
