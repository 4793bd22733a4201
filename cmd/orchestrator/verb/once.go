package verb

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/work"
)

// onceOptions are the flags of the verbs that start a run.
type onceOptions struct {
	once    thread.Once
	name    string // of the execution
	dispose string
	asks    string
	budget  budgetFlag
	detach  bool
	bundle  bundleFlags
}

// flags adds the flags of a verb. One that follows its run need not.
func (o *onceOptions) flags(c *cli, cmd *cobra.Command, follows bool) {
	f := cmd.Flags()
	f.BoolVar(&o.once.On, "once", false, "run without a terminal: one prompt, its answer, an end; see \"orchestrator help runs\"")
	f.BoolVar(&o.once.ReadOnly, "read-only", false, "with --once: the agent's own switch refuses to change files, and the folder is compared afterwards")
	f.IntVar(&o.once.Priority, "priority", 0, "with --once: larger ones start first")
	f.DurationVar(&o.once.Deadline, "deadline", 0, "with --once: it is ended after this time (default: runs.deadline)")
	f.StringVar(&o.once.Lost, "lost", "", "with --once, if the server dies meanwhile: "+choices(policies())+" (default: runs.lost)")
	f.StringVar(&o.once.OnFail, "on-fail", "", "with --once, if it fails: "+choices(onFails())+" (default: runs.on_fail)")
	f.StringVar(&o.once.Fallback, "fallback", "", "with --once, what takes its place then: model:`NAME`, another agent, or none (default: runs.fallback)")
	f.StringVar(&o.asks, "asks", "", "with --once, when its agent would ask you: "+choices(asks())+" (default: runs.asks)")
	f.StringVar(&o.dispose, "dispose", "", "with --once, what becomes of its own worktree: "+choices(disposals())+" (default: runs.dispose)")
	f.StringVar((*string)(&o.once.Tier), "tier", "", "class of its model: "+choices(names(thread.Tiers()))+"; see [tiers.AGENT] in \"orchestrator help settings\"")
	f.Var((*capFlag)(&o.once.Caps.Calls), "calls", "with --once: `N` calls of tools that it may make, or none for no bound (default: runs.calls)")
	f.Var((*capFlag)(&o.once.Caps.Words), "words", "with --once: `N` words that its answer may have, or none for no bound (default: runs.words)")
	f.BoolVar(&o.once.Caps.Explore, "explore", false, "with --once: it only finds something out, and reports in under 200 words")
	f.Var(&o.budget, "budget", "`AMOUNT` that each run may spend, without --once the thread: 2.50usd or $2.50, 200k tokens, or both with a comma")
	f.StringVar(&o.once.Group, "group", "", "`NAME` of a group that shares a budget, which \"orchestrator budget set group:NAME\" sets")
	f.StringVar(&o.once.Session, "session", "", "`NAME` of the work session that it belongs to, which \"orchestrator session init\" makes")
	f.StringVar(&o.once.Task, "task", "", "with --session: `TITLE` of a task of it, which is made if there is none")
	f.StringVar(&o.once.Type, "type", "", "`KIND` of agent that it is, such as debugger, for the record")
	f.StringVar(&o.name, "as", "", "with --once: `NAME` of the execution (default: the next exec-001)")
	o.bundle.flags(f)
	if follows {
		f.BoolVarP(&o.detach, "detach", "d", false, "with --once: print the execution's name and do not wait")
	}
	offer(cmd, "session", flagSessions(c))
	offer(cmd, "type", flagTypes(c))
	offer(cmd, "bundle", flagBundles(c))
	offer(cmd, "lost", cobra.FixedCompletions(policies(), cobra.ShellCompDirectiveNoFileComp))
	offer(cmd, "on-fail", cobra.FixedCompletions(onFails(), cobra.ShellCompDirectiveNoFileComp))
	offer(cmd, "tier", cobra.FixedCompletions(names(thread.Tiers()), cobra.ShellCompDirectiveNoFileComp))
	offer(cmd, "asks", cobra.FixedCompletions(asks(), cobra.ShellCompDirectiveNoFileComp))
	offer(cmd, "dispose", cobra.FixedCompletions(disposals(), cobra.ShellCompDirectiveNoFileComp))
}

// onceFlags are the names of the flags that mean something with --once only.
func onceFlags() []string {
	return []string{
		"read-only", "priority", "deadline", "lost", "on-fail", "fallback", "asks", "dispose", "as", "detach", "calls", "words", "explore", "bundle", "as-prepared",
	}
}

// keep is the word for work.DisposeKeep.
const keep = "keep"

func policies() []string {
	return names([]work.Policy{work.PolicyAsk, work.PolicyResume, work.PolicyRetry, work.PolicyFail})
}

func onFails() []string {
	return names([]work.OnFail{work.FailAsk, work.FailRetry, work.FailWait, work.FailFallback})
}
func asks() []string { return names([]thread.Asks{thread.AsksPerson, thread.AsksNobody}) }

func disposals() []string {
	return append([]string{keep}, names([]work.Disposal{work.DisposeBranch, work.DisposeMerge, work.DisposeDrop})...)
}

// choices lists words of which one is taken.
func choices(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// check validates the flags, and has them mean what the domain calls them.
func (o *onceOptions) check(cmd *cobra.Command) error {
	if err := work.CheckTier(o.once.Tier); err != nil {
		return fmt.Errorf("--tier: %w", err)
	}
	if o.budget.text != "" {
		var err error
		if o.once.Budget, err = budget.Parse(o.budget.text); err != nil {
			return err
		}
	}
	if o.once.Group != "" {
		if err := budget.CheckGroup(o.once.Group); err != nil {
			return err
		}
	}
	if err := work.CheckBelongs(o.once.Session, o.once.Task, o.once.Type); err != nil {
		return err
	}
	if !o.once.On {
		for _, name := range onceFlags() {
			if cmd.Flags().Changed(name) {
				return usagef("--%s needs --once: it is about a run without a terminal", name)
			}
		}
		return nil
	}
	switch {
	case cmd.Flags().Changed("deadline") && o.once.Deadline < time.Second:
		return usagef("--deadline %s: must be a second or more, such as 10m", o.once.Deadline)
	case o.once.Lost != "" && !slices.Contains(policies(), o.once.Lost):
		return usagef("--lost %s: use %s", o.once.Lost, choices(policies()))
	case o.once.OnFail != "" && !slices.Contains(onFails(), o.once.OnFail):
		return usagef("--on-fail %s: use %s", o.once.OnFail, choices(onFails()))
	case o.asks != "" && !slices.Contains(asks(), o.asks):
		return usagef("--asks %s: use %s", o.asks, choices(asks()))
	case o.dispose != "" && !slices.Contains(disposals(), o.dispose):
		return usagef("--dispose %s: use %s", o.dispose, choices(disposals()))
	}
	if err := work.CheckCaps(o.once.Caps); err != nil {
		return err
	}
	if o.name != "" {
		if err := work.CheckName(o.name); err != nil {
			return fmt.Errorf("--as: %w", err)
		}
	}
	o.once.Dispose, o.once.Asks = o.dispose, thread.Asks(o.asks)
	return nil
}

// capFlag is a bound of a run: a number, none for no bound, or what is configured if it is not given.
type capFlag int

func (n *capFlag) String() string {
	switch {
	case *n < 0:
		return "none"
	case *n == 0:
		return ""
	}
	return strconv.Itoa(int(*n))
}

func (*capFlag) Type() string { return "number" }

func (n *capFlag) Set(v string) error {
	if v == "none" {
		*n = work.Uncapped
		return nil
	}
	given, err := strconv.Atoi(v)
	if err != nil || given < 1 {
		return errors.New("must be 1 or more, or none for no bound")
	}
	*n = capFlag(given)
	return nil
}
