package verb

import "github.com/spf13/cobra"

// contextManager is the hidden verb context_manager, for instructions that call a script of that name.
func contextManager(c *cli) *cobra.Command {
	return script("context_manager", "Prepare and count what agents are given", scriptPrepare(c), scriptBudget(c), scriptDedup(c), scriptBrief(c), scriptAllocate(c))
}

func scriptPrepare(c *cli) *cobra.Command {
	var o prepareOptions
	cmd := alias("prepare-bundle", "bundle prepare")
	o.flags(c, cmd.Flags())
	cmd.Flags().StringVar(&o.order.Session, "session-id", "", "the work session that it is for")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(c, cmd, args) }
	return cmd
}

func scriptBudget(c *cli) *cobra.Command {
	var o budgetOptions
	cmd := alias("track-budget", "bundle budget")
	o.flags(cmd.Flags(), "session-id")
	formatted(c, cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(c, cmd, args) }
	return cmd
}

func scriptDedup(c *cli) *cobra.Command {
	var o dedupOptions
	cmd := alias("deduplicate", "bundle dedup")
	o.flags(c, cmd.Flags())
	formatted(c, cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(c, cmd, args) }
	return cmd
}

func scriptBrief(c *cli) *cobra.Command {
	var o briefOptions
	cmd := alias("generate-briefing", "bundle brief")
	o.flags(c, cmd.Flags())
	cmd.Flags().StringVar(&o.bundle, "bundle", "", "the bundle: a file, or an id")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.bundle == "" {
			return usagef("needs --bundle")
		}
		return o.run(c, cmd, args)
	}
	return cmd
}

func scriptAllocate(c *cli) *cobra.Command {
	var o allocateOptions
	cmd := alias("record-allocation", "bundle allocate")
	o.flags(cmd.Flags())
	cmd.Flags().StringVar(&o.q.Execution, "execution-id", "", "the execution")
	cmd.Flags().StringVar(&o.bundle, "bundle", "", "the bundle: a file, or an id")
	formatted(c, cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.bundle == "" || o.q.Execution == "" {
			return usagef("needs --execution-id and --bundle")
		}
		return o.run(c, cmd, args)
	}
	return cmd
}
