package verb

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

// taskStartOptions are what `task start` is asked with beside the tasks.
type taskStartOptions struct {
	all      bool
	of       string
	planName string
	agent    plan.Agent
	readOnly bool
	values   []string
	agreed   bool
	follow   bool
}

func taskStart(c *cli) *cobra.Command {
	var o taskStartOptions
	cmd := &cobra.Command{
		Use: "start <task>...", Short: "Start tasks that have not begun", Args: between(0, mostTasks, "<task>..."),
		Example: "orchestrator task start task-012 task-014\norchestrator task start --all --of task-011",
		Long: "Start tasks that have not begun, each with its plan. One without a plan is done by one agent: in a project with git\n" +
			"in a worktree of its own, which is kept; without git it only reads.\n\n" + waveCodes,
		ValidArgsFunction: completeTasks(c, mostTasks, waitingTasks()...),
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "all that are proposed")
	f.StringVar(&o.of, "of", "", "with --all: only those that came of splitting a text, the `TASK` that did")
	f.StringVar(&o.planName, "plan", "", "the `PLAN` that works on them: a file, or a name; with --all, only proposals for it")
	f.StringVar(&o.agent.Agent, "agent", "", "what works on a task without a plan (default: agent in the configuration)")
	f.StringVar(&o.agent.Model, "model", "", "the `MODEL` of that")
	f.StringVar((*string)(&o.agent.Tier), "tier", "", "or its class: "+choices(names(thread.Tiers())))
	f.BoolVar(&o.readOnly, "read-only", false, "a task without a plan changes no files")
	f.StringArrayVar(&o.values, "var", nil, "`NAME=VALUE` of a variable of the plan; may be given again")
	f.BoolVarP(&o.agreed, "yes", "y", false, "agree to what a plan asks before it runs")
	f.BoolVar(&o.follow, "follow", false, "print what happens until it ends; of one task")
	offer(cmd, "agent", c.completeAgents)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if o.all == (len(args) > 0) {
			return usagef("task start: name tasks, or give --all")
		}
		if o.of != "" && !o.all || o.follow && len(args) != 1 {
			return usagef("task start: --of goes with --all, --follow with one task")
		}
		list, err := o.tasks(ctx, cl, args)
		if err != nil {
			return err
		}
		if o.follow {
			return o.followed(ctx, c, cl, list[0])
		}
		var names []string
		by := map[string]plan.Task{}
		for _, t := range list {
			names, by[t.Name] = append(names, t.Name), t
		}
		return eachTask(c, names, func(name string) (plan.Task, error) { return o.start(ctx, c, cl, by[name]) })
	})
	return cmd
}

// tasks returns what is to be started, the oldest first.
func (o taskStartOptions) tasks(ctx context.Context, cl *client.Client, args []string) (list []plan.Task, err error) {
	for _, name := range args {
		one, err := api.Tasks.Do(ctx, cl, wave.ListRequest{Task: name})
		if err != nil {
			return nil, err
		}
		list = append(list, one...)
	}
	if !o.all {
		return list, nil
	}
	found, err := api.Tasks.Do(ctx, cl, wave.ListRequest{Statuses: []plan.Status{plan.Proposed}, Of: o.of, Plan: o.planName, Limit: mostTasks})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, thread.Hint(fmt.Errorf("no task is proposed: %w", thread.ErrNotFound), "`orchestrator task list` shows what waits")
	}
	for i := range found { // newest first
		list = append(list, found[len(found)-1-i])
	}
	return list, nil
}

// start starts one task.
func (o taskStartOptions) start(ctx context.Context, c *cli, cl *client.Client, t plan.Task) (plan.Task, error) {
	q := wave.RunRequest{Task: t.Name, Agreed: o.agreed}
	name := o.planName
	if name == "" {
		name = t.PlanName
	}
	if name == "" {
		var err error
		if q.Plan, err = o.single(c, t); err != nil {
			return t, err
		}
		return api.StartTask.Do(ctx, cl, q)
	}
	p, err := readPlan(c, name)
	if errors.Is(err, thread.ErrNotFound) && o.planName == "" && len(o.values) == 0 {
		// It may be armed, and gone as a file.
		if begun, armedErr := api.StartTask.Do(ctx, cl, q); armedErr == nil {
			return begun, nil
		}
	}
	if err != nil {
		return t, err
	}
	q.Plan = p
	if q.Vars, err = planVars(p, o.values); err != nil {
		return t, err
	}
	return api.StartTask.Do(ctx, cl, q)
}

// single is the plan of a task that has none.
func (o taskStartOptions) single(c *cli, t plan.Task) (p plan.Plan, err error) {
	a := o.agent
	if a.Agent == "" {
		a.Agent = plan.Plain(t.Vars[plan.SingleAgent])
	}
	if a.Agent, err = agentOr(c, a.Agent); err != nil {
		return p, err
	}
	return plan.Single(a, c.project.Repository && !o.readOnly), nil
}

// followed starts one task and follows it.
func (o taskStartOptions) followed(ctx context.Context, c *cli, cl *client.Client, t plan.Task) error {
	begun, err := o.start(ctx, c, cl, t)
	if err != nil {
		return err
	}
	v, err := api.WaveStatus.Do(ctx, cl, wave.TaskRef{Task: begun.Name})
	if err != nil {
		return err
	}
	return followWave(ctx, c, cl, v)
}
