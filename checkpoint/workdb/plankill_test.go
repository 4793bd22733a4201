package workdb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/killtest"
	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/workdb"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plan"
)

// plansChild leads tasks of plans through their lives until it is killed, and says what was acknowledged: "ack task agent round
// version".
func plansChild(ctx context.Context, path string) error {
	failpoint.Arm()
	s, err := workdb.Open(ctx, path, workdb.Options{})
	if err != nil {
		return err
	}
	p := s.Plans()
	if err := p.Arm(ctx, plan.Armed{Name: "brief", Plan: plantest.Seven(), On: true, AtOnce: 1000}); err != nil {
		return err
	}
	for range 100 {
		if err := leadTask(ctx, p); err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, os.Stdin) // stay until killed, or until whoever started us is gone
	return err
}

// leadTask adds a task, has its plan take it, and each agent of the first wave hand over twice.
func leadTask(ctx context.Context, p plan.Store) error {
	if _, err := p.AddTask(ctx, plan.Task{Title: "t", PlanName: "brief"}, nil); err != nil {
		return err
	}
	k, ok, err := p.TakeTask(ctx, "brief", "s", time.Now(), func(plan.Task) ([]plan.Node, error) { return plantest.SevenNodes(), nil })
	if err != nil || !ok {
		return fmt.Errorf("nothing is taken: %w", err)
	}
	fmt.Println("ack", k.Name, "-", 0, 0)
	for _, agent := range []string{"vision", "apex", "echo", "vision"} {
		all, err := p.ChangeNodes(ctx, k.Name, map[string]int64{agent: plan.Anyway}, func(n *plan.Node) error {
			n.Round, n.State, n.Given = n.Round+1, plan.NodeWorking, map[string]int{"vision": 1, "apex": 1}
			return nil
		})
		if err != nil {
			return err
		}
		n := all[0]
		fmt.Println("ack", k.Name, agent, n.Round, n.Version)
		h, _, err := p.Deliver(ctx, plan.HandOver{Task: k.Name, Agent: agent, Data: fmt.Sprintf(`{"round": %d}`, n.Round), Round: n.Round}, n.Fence,
			func(n *plan.Node) error { n.State = plan.NodeDelivered; return nil })
		if err != nil && !errors.Is(err, plan.ErrSame) {
			return err
		}
		fmt.Println("ack", k.Name, agent, n.Round, h.Version)
	}
	_, err = p.ChangeTask(ctx, k.Name, k.Fence, func(k *plan.Task) error { k.Status = plan.Complete; return nil })
	return err
}

// ackedNode is what a child said last of a node.
type ackedNode struct{ round, version int }

// livePlans starts a child, kills it after some acknowledgements (0: its failpoint does) and adds what it said.
func livePlans(t *testing.T, path string, kill int, place string, said map[string]ackedNode) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "PLANS_CHILD="+path, "ORCHESTRATOR_FAILPOINT="+place)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, n := bufio.NewScanner(out), 0
	for lines.Scan() {
		var task, agent string
		var a ackedNode
		if _, err := fmt.Sscanf(lines.Text(), "ack %s %s %d %d", &task, &agent, &a.round, &a.version); err != nil {
			t.Errorf("%s: %s", place, lines.Text())
			break
		}
		said[task+" "+agent] = a
		if n++; n == kill {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait() // it was killed
}

// TestPlansKilled kills at each gap and at any moment: what was acknowledged is there, and of each task there is all or
// nothing: its agents with their edges, a version with the agent that has it, the change of a state with its event.
func TestPlansKilled(t *testing.T) {
	places := []string{"", "workdb.migrate.step", "plan.add.row:3", "plan.begin.row:2", "plan.nodes.rows:2", "plan.nodes.changed:3", "plan.deliver.row:2",
		"plan.deliver.nodes:4", "plan.change.row:1", "workdb.commit.before:1", "workdb.commit.before:17", "workdb.commit.after:9"}
	path := filepath.Join(t.TempDir(), "work.db")
	said := map[string]ackedNode{}
	for round := range killtest.Rounds(t, 2) {
		for i, place := range places {
			kill := 0
			if place == "" {
				kill = 1 + (round*37+i*11)%150
			}
			if place == "workdb.migrate.step" {
				if round > 0 {
					continue
				}
				path, said = filepath.Join(t.TempDir(), "work.db"), map[string]ackedNode{} // only a new file gets its tables
			}
			livePlans(t, path, kill, place, said)
			wholePlans(t, path, place, said)
		}
	}
	if len(said) < 20 {
		t.Errorf("only %d agents were led", len(said))
	}
}

func wholePlans(t *testing.T, path, place string, said map[string]ackedNode) {
	t.Helper()
	ctx := t.Context()
	s := open(t, path, workdb.Options{})
	if s.Report() != "" {
		t.Fatal(s.Report())
	}
	if err := s.Check(ctx); err != nil {
		t.Fatal(err)
	}
	p := s.Plans()
	for what, a := range said {
		task, agent, _ := strings.Cut(what, " ")
		if agent == "-" {
			if k, err := p.Task(ctx, task); err != nil || k.Status == plan.Pending {
				t.Fatalf("%s: %s: %+v: %v", place, task, k, err)
			}
			continue
		}
		if n, err := p.Node(ctx, task, agent); err != nil || n.Round < a.round || n.Version < a.version {
			t.Fatalf("%s: %s: %+v, acknowledged %+v: %v", place, what, n, a, err)
		}
	}
	var wrong int
	for what, query := range map[string]string{
		"agents": `SELECT count(*) FROM plan_task t WHERE (SELECT count(*) FROM plan_node n WHERE n.task = t.n) <> (CASE t.status WHEN 'pending' THEN 0 ELSE 8 END)`,
		"edges":  `SELECT count(*) FROM plan_task t WHERE (SELECT count(*) FROM plan_edge e WHERE e.task = t.n) <> (CASE t.status WHEN 'pending' THEN 0 ELSE 19 END)`,
		"events": `SELECT count(*) FROM plan_task t WHERE (SELECT count(*) <> max(seq) FROM plan_event e WHERE e.task = t.n)`,
		"the state's event": `SELECT count(*) FROM plan_task t WHERE (SELECT doc ->> '$.text' FROM plan_event e WHERE e.task = t.n
			AND doc ->> '$.agent_name' IS NULL ORDER BY seq DESC LIMIT 1) IS NOT t.status`,
		"the agent's version": `SELECT count(*) FROM plan_node n WHERE coalesce(doc ->> '$.version', 0) <> coalesce((SELECT version FROM plan_handover h
			WHERE h.task = n.task AND h.agent = n.agent AND current = 1), 0)`,
		"versions":   `SELECT count(*) FROM (SELECT count(*) AS n, max(version) AS v FROM plan_handover GROUP BY task, agent) WHERE n <> v`,
		"the number": `SELECT count(*) FROM work_number WHERE prefix = 'task' AND last < (SELECT count(*) FROM plan_task)`,
	} {
		if count(t, path, query, &wrong); wrong != 0 {
			t.Fatalf("%s: %d are wrong: %s", place, wrong, what)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPlansDiskFull: on a full disk nothing of a task is half there, reading goes on, and so does the store once there is room.
func TestPlansDiskFull(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	p := s.Plans()
	_, at := plantest.Example(t, p)
	before := plantest.Content(t, p)
	pages, err := s.Pages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetLimit(ctx, pages+10); err != nil {
		t.Fatal(err)
	}
	wide, nodes := plantest.Wide(500)
	big := plan.HandOver{Task: at.Name, Agent: "vision", Data: strings.Repeat("x", 200<<10)}
	full := func(_ any, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "bytes needed") {
			t.Errorf("%v", err)
		}
	}
	full(p.AddTask(ctx, plan.Task{Title: "wide", Status: plan.InProgress, Plan: &wide}, nodes))
	_, _, err = p.Deliver(ctx, big, plan.Anyway, nil)
	full(nil, err)
	after := plantest.Content(t, p)
	for what, v := range after {
		if !equal(before[what], v) {
			t.Errorf("%s is %+v", what, v)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d, %d before", len(after), len(before))
	}
	if err := s.SetLimit(ctx, pages+2000); err != nil {
		t.Fatal(err)
	}
	if h, _, err := p.Deliver(ctx, big, plan.Anyway, nil); err != nil || h.Version != 3 {
		t.Errorf("%+v: %v", h.Version, err)
	}
	if k, err := p.AddTask(ctx, plan.Task{Title: "wide", Status: plan.InProgress, Plan: &wide}, nodes); err != nil || k.Name != "task-003" {
		t.Errorf("%s: %v", k.Name, err)
	}
}
