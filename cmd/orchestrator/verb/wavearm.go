package verb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/plain"
)

func waveArm(c *cli) *cobra.Command {
	var q wave.ArmRequest
	cmd := &cobra.Command{
		Use: "arm <plan>", Short: "Have a plan take tasks as they come, day and night", Args: exactly("<plan>"),
		Example: "orchestrator wave arm fix-bug --at-once 3",
		Long: "Have a plan take the tasks that wait for it, the first ones first, so many at once, day and night and over restarts.\n" +
			"What is armed is the plan as its file is now: arm it again once that has changed. After three tasks in a row that\n" +
			"failed it takes no more until it is armed again.",
	}
	f := cmd.Flags()
	f.IntVar(&q.AtOnce, "at-once", 0, "how many tasks are at work at once (default: as before, or 1)")
	f.StringVar(&q.Session, "session", "", "`NAME` of the work session that its tasks belong to")
	f.StringVar(&q.Dir, "dir", "", "`FOLDER` that its agents work in (default: the project's)")
	f.BoolVarP(&q.Agreed, "yes", "y", false, "agree to what is asked before it is armed")
	offer(cmd, "session", flagSessions(c))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if q.AtOnce < 0 || f.Changed("at-once") && q.AtOnce == 0 {
			return usagef("--at-once %d: must be 1 to %d", q.AtOnce, plan.MaxAtOnce)
		}
		if err := c.alone("wave-arm"); err != nil {
			return err
		}
		if q.Dir != "" {
			dir, err := filepath.Abs(q.Dir)
			if err != nil {
				return fmt.Errorf("folder %s: %w", q.Dir, err)
			}
			q.Dir = dir
		}
		p, planErr := readPlan(c, args[0])
		switch {
		case planErr == nil:
			q.Plan, q.Name, q.Ref = &p, p.Name, planRef(args[0])
		case errors.Is(planErr, thread.ErrNotFound):
			q.Name = args[0] // as it was armed before
		default:
			return planErr
		}
		q.On = true
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			if planErr != nil {
				if err := armedBefore(ctx, c, cl, &q); err != nil {
					return err
				}
			}
			s, err := armPlan(ctx, c, cl, q)
			if errors.Is(err, thread.ErrNotFound) && planErr != nil {
				return planErr
			}
			if err != nil {
				return err
			}
			return c.out.show(s, func(w io.Writer) {
				fmt.Fprintf(w, "%s is armed: %d at once, %s\n", s.Name, s.AtOnce, page.Counted(int64(s.Pending+len(s.AtWork)), "task")+" so far")
			})
		})(cmd, args)
	}
	return cmd
}

// planRef is what finds a plan again from any folder.
func planRef(ref string) string {
	if _, err := os.Stat(ref); err != nil {
		return ref
	}
	if path, err := filepath.Abs(ref); err == nil {
		return path
	}
	return ref
}

// armedBefore reads a plan that is named as it was armed, from where that was read.
func armedBefore(ctx context.Context, c *cli, cl *client.Client, q *wave.ArmRequest) error {
	list, err := api.ArmedPlans.Do(ctx, cl, api.None{})
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.Name != q.Name || s.Ref == "" {
			continue
		}
		p, err := readPlan(c, s.Ref)
		switch {
		case err == nil:
			p.Name = s.Name
			q.Plan, q.Ref = &p, s.Ref
			q.Session, q.Dir = cmp.Or(q.Session, s.Session), cmp.Or(q.Dir, s.Dir)
		case !errors.Is(err, thread.ErrNotFound):
			return err
		}
	}
	return nil
}

// armPlan arms a plan, and asks the person on a terminal what there is to agree to.
func armPlan(ctx context.Context, c *cli, cl *client.Client, q wave.ArmRequest) (wave.StandingPlan, error) {
	s, err := api.ArmPlan.Do(ctx, cl, q)
	if err != nil || len(s.Asks) == 0 {
		return s, err
	}
	for _, f := range s.Asks {
		fmt.Fprintf(c.out.stderr, "orchestrator: %s. %s\n", plain.Line(f.Text), plain.Line(f.Do))
	}
	refused := thread.Hint(thread.Kindf(thread.ErrRefused, "%s is not armed", s.Name), "--yes agrees")
	if !c.interactive() {
		return s, refused
	}
	yes, err := c.ask("Arm it all the same? (y/n) ")
	if err != nil || !yes {
		return s, errors.Join(refused, err)
	}
	q.Agreed = true
	return api.ArmPlan.Do(ctx, cl, q)
}

func waveDisarm(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "disarm <plan>", Short: "Have an armed plan take no more tasks; what is at work goes on", Args: exactly("<plan>"),
		ValidArgsFunction: completeArmed(c),
	}
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		s, err := api.ArmPlan.Do(ctx, cl, wave.ArmRequest{Name: args[0]})
		if err != nil {
			return err
		}
		return c.out.show(s, func(w io.Writer) {
			fmt.Fprintf(w, "%s takes no more tasks; %s at work\n", s.Name, page.Counted(int64(len(s.AtWork)), "task"))
		})
	})
	return cmd
}

func waveArmed(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "armed", Short: "List the plans that take tasks as they come, and how they stand", Args: exactly()}
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		list, err := api.ArmedPlans.Do(ctx, cl, api.None{})
		if err != nil {
			return err
		}
		for i := range list {
			if list[i].On {
				list[i].File = armedFile(c, list[i])
			}
		}
		return c.out.show(list, func(w io.Writer) { page.Armed(w, list) })
	})
	return cmd
}

// armedFile compares what is armed with the plan's file.
func armedFile(c *cli, s wave.StandingPlan) string {
	p, err := readPlan(c, cmp.Or(s.Ref, s.Name))
	if errors.Is(err, thread.ErrNotFound) {
		return "its file is gone: it goes on as it was armed"
	}
	if err == nil {
		p.Name = s.Name
		hash, hashErr := plan.Hash(p)
		if err = hashErr; err == nil && hash == s.Hash {
			return ""
		}
	}
	if err != nil {
		return fmt.Sprintf("its file cannot be used now (%v): it goes on as it was armed", err)
	}
	return "its file has changed: it goes on as it was armed, until `orchestrator wave arm " + s.Name + "`"
}

// completeArmed suggests plans that were armed.
func completeArmed(c *cli) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
			list, err := api.ArmedPlans.Do(ctx, cl, api.None{})
			var names []string
			for _, s := range list {
				names = append(names, s.Name)
			}
			return names, err
		})
	}
}
