package verb

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// validated is what was looked at before an agent is started.
type validated struct {
	Scope        string   `json:"scope,omitempty"`
	Files        []string `json:"context_files"`
	Bytes        int64    `json:"bytes"`
	Dependencies int      `json:"dependencies"`
	Warnings     []string `json:"warnings"`
}

// validateOrchestration is the hidden verb validate_orchestration: it looks, without a server, whether what is planned can
// work.
func validateOrchestration(c *cli) *cobra.Command {
	var scope, dependencies string
	var files []string
	cmd := &cobra.Command{
		Use: "validate_orchestration", Short: "Look whether files are there, a scope is sane and dependencies come round", Args: exactly(), Hidden: true,
	}
	cmd.Flags().StringVar(&scope, "scope", "", "what shall be done")
	cmd.Flags().StringArrayVar(&files, "context-files", nil, "`FILES` that agents will be given, with commas between them")
	cmd.Flags().StringVar(&dependencies, "dependencies", "", `what comes before what: "A->B,B->C"`)
	formatted(c, cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("scope") && len(files) == 0 && dependencies == "" {
			return usagef("nothing to look at: give --scope, --context-files or --dependencies")
		}
		v := validated{Files: []string{}, Warnings: []string{}}
		var errs []error
		if cmd.Flags().Changed("scope") {
			v.Scope = plaintext.Short(scope, 200)
			warning, err := work.CheckScope(scope)
			if warning != "" {
				v.Warnings = append(v.Warnings, warning)
			}
			errs = append(errs, err)
		}
		depends, err := work.ParseDependencies(dependencies)
		v.Dependencies, errs = len(depends), append(errs, err)
		from, err := sourcesOf(c)
		if err != nil {
			return err
		}
		for _, name := range listed(files) {
			content, err := from.read(name)
			if err == nil && !bundle.IsText(content) {
				err = thread.Kindf(thread.ErrInvalid, "no text, so no agent can be given it")
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
				continue
			}
			v.Files, v.Bytes = append(v.Files, name), v.Bytes+int64(len(content))
		}
		for _, w := range v.Warnings {
			say(c, "warning: %s", w)
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		steps := ""
		if v.Dependencies > 0 {
			steps = "; " + plaintext.Count(v.Dependencies, "step") + " in order"
		}
		return c.out.show(v, func(w io.Writer) {
			fmt.Fprintf(w, "valid: %s, %s%s\n", plaintext.Count(len(v.Files), "file"), thread.Bytes(v.Bytes), steps)
		})
	}
	return cmd
}
