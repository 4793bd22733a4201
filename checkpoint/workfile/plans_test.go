package workfile_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/workdb"
	"orchestrator/checkpoint/workfile"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

func database(t *testing.T) *workdb.Store {
	t.Helper()
	db, err := workdb.Open(t.Context(), filepath.Join(t.TempDir(), "work.db"), workdb.Options{Now: clock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestPlans takes tasks of plans to a store in which another task has the name of one of them: all is there, names and what
// refers to them follow, what was at work is over, nothing is armed, and a second time changes nothing.
func TestPlans(t *testing.T) {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	from, to := database(t), database(t)
	waits, at := plantest.Example(t, from.Plans())
	plantest.Many(t, from.Plans(), 3)
	_, err := from.Plans().ChangeNodes(ctx, at.Name, map[string]int64{"echo": 1}, func(n *plan.Node) error {
		n.State, n.Round, n.Given = plan.NodeWorking, 1, map[string]int{"vision": 2}
		return nil
	})
	must(err)
	x, err := from.Add(ctx, work.Execution{ID: thread.NewID[work.ID](), Thread: "0123456789abcdef", Agent: "demo", Lost: work.PolicyAsk,
		Part: thread.Part{Task: at.Name, Agent: "echo", Round: 1}})
	must(err)
	here, err := to.Plans().AddTask(ctx, plan.Task{Title: "mine"}, nil)
	must(err)
	var file bytes.Buffer
	done, err := workfile.Export{From: from, Plans: from.Plans(), Secrets: true}.Write(ctx, &file)
	must(err)
	if done.Tasks != 5 || done.Handed != 13 || len(done.Notes) > 0 {
		t.Errorf("%+v", done)
	}
	read := func(as workfile.As, to *workdb.Store, file []byte) workfile.Read {
		t.Helper()
		got, err := workfile.Import{To: to, Plans: to.Plans(), Now: start, As: as}.Read(ctx, bytes.NewReader(file), int64(len(file)))
		must(err)
		return got
	}
	got := read(workfile.As{}, to, file.Bytes())
	if got.Tasks != 5 || got.Existing != 0 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "task-001 \u2192 task-001-2") {
		t.Errorf("%+v", got)
	}
	p := to.Plans()
	if k, err := p.Task(ctx, "task-001"); err != nil || k.ID != here.ID {
		t.Errorf("%+v: %v", k, err)
	}
	k, err := p.Task(ctx, at.ID)
	if err != nil || k.Name != "task-001-2" || k.Status != plan.Failed || !strings.Contains(k.Reason, "taken along") || !reflect.DeepEqual(k.Plan, at.Plan) {
		t.Errorf("%+v: %v", k, err)
	}
	if k, err := p.Task(ctx, waits.Name); err != nil || !reflect.DeepEqual(k, waits) {
		t.Errorf("%+v: %v", k, err)
	}
	n, err := p.Node(ctx, "task-001-2", "echo")
	if err != nil || n.State != plan.NodeFailed || n.Given["vision"] != 2 || n.Task != "task-001-2" {
		t.Errorf("%+v: %v", n, err)
	}
	old, err := from.Plans().HandOver(ctx, at.Name, "vision", 0)
	must(err)
	h, err := p.HandOver(ctx, "task-001-2", "vision", 0)
	if old.Task = "task-001-2"; err != nil || !reflect.DeepEqual(h, old) {
		t.Errorf("%+v: %v", h, err)
	}
	if opens, err := p.Opens(ctx, "tok"); err != nil || len(opens) != 1 || opens[0].Task != "task-001-2" {
		t.Errorf("%+v: %v", opens, err)
	}
	if armed, err := p.Armed(ctx); err != nil || len(armed) != 1 || armed[0].On {
		t.Errorf("%+v: %v", armed, err)
	}
	if y, err := to.Execution(ctx, string(x.ID)); err != nil || y.Part.Task != "task-001-2" {
		t.Errorf("%+v: %v", y, err)
	}
	before := plantest.Content(t, p)
	if got := read(workfile.As{}, to, file.Bytes()); got.Tasks != 0 || !reflect.DeepEqual(plantest.Content(t, p), before) {
		t.Errorf("the second time: %+v", got)
	}
	// One line less, which is damaged, hides no other.
	bad := bytes.Clone(file.Bytes())
	i := bytes.Index(bad, []byte(" H {"))
	bad[i+20] ^= 1
	third := database(t)
	if got := read(workfile.As{}, third, bad); got.Tasks != 5 || !strings.Contains(strings.Join(got.Notes, ""), "1 row") {
		t.Errorf("%+v", got)
	}
	// An archive of a thread brings no tasks, and its executions are of none.
	fourth := database(t)
	if got := read(workfile.As{Thread: "fedcba9876543210"}, fourth, file.Bytes()); got.Tasks != 0 || got.Executions != 1 {
		t.Errorf("%+v", got)
	}
	if xs, err := fourth.Recorded(ctx, work.RecordQuery{}); err != nil || len(xs) != 1 || xs[0].Part != (thread.Part{}) {
		t.Errorf("%+v: %v", xs, err)
	}
}

// TestPlansWithoutSecrets: no text of a task, a plan or a deliverable leaves with a key in it.
func TestPlansWithoutSecrets(t *testing.T) {
	ctx := t.Context()
	s := database(t)
	p := plantest.Seven()
	p.Agents[0].Prompt = "use " + key
	k, err := s.Plans().AddTask(ctx, plan.Task{Title: "t " + key, Body: key, Status: plan.InProgress, Plan: &p, PlanName: p.Name,
		Vars: map[string]json.RawMessage{"k": json.RawMessage(`"` + key + `"`)}}, plantest.SevenNodes())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Plans().Note(ctx, k.Name, plan.Event{Text: key}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Plans().Deliver(ctx, plan.HandOver{Task: k.Name, Agent: "vision", Summary: key, Data: `{"k": "` + key + `", "n": 1.50}`}, plan.Anyway, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Plans().Arm(ctx, plan.Armed{Plan: p}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := (workfile.Export{From: s, Plans: s.Plans()}).Write(ctx, &file); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(file.String(), key) || strings.Contains(file.String(), key[15:30]) {
		t.Error("a key is in the file")
	}
	to := database(t)
	if got, err := (workfile.Import{To: to, Plans: to.Plans(), Now: time.Now()}).Read(ctx, bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil || got.Tasks != 1 || len(got.Notes) > 0 {
		t.Errorf("%+v: %v", got, err)
	}
	if h, err := to.Plans().HandOver(ctx, k.Name, "vision", 1); err != nil || !strings.HasSuffix(h.Data, `", "n": 1.50}`) {
		t.Errorf("%+v: %v", h, err)
	}
}
