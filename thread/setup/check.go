package setup

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/accept"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/pattern"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

var _ record.Checks = (*Setup)(nil)

const (
	keptOutput  = 16 << 10 // of a check, in which its percentage is looked for
	shownOutput = 1500     // of a check that failed
)

// Check runs the project's checks in a folder, one after the other and for one execution at a time. A check passes if its
// command ends with 0. Coverage is the last percentage that its command prints: "total: (statements) 85.3%" is 85.3.
func (s *Setup) Check(ctx context.Context, r record.CheckRun) (work.Validation, error) {
	all := s.cfg.Checks.all()
	names, err := s.chosen(r.Only)
	if err != nil {
		return work.Validation{}, err
	}
	select {
	case s.checking <- struct{}{}:
		defer func() { <-s.checking }()
	case <-ctx.Done():
		return work.Validation{}, fmt.Errorf("wait for the checks of another execution: %w", context.Cause(ctx))
	}
	copied, files, err := s.accepted(all, r.Dir)
	if err != nil {
		return work.Validation{}, err
	}
	mark := s.checkMark()
	endChecks(ctx, mark)
	var v work.Validation
	var failures []string
	for _, name := range names {
		c := command{
			line: accept.Elsewhere(s.cfg.Checks[name], r.Dir, copied, files), dir: r.Dir, run: mark, limit: s.cfg.CheckLimit,
			env: append(s.cfg.Env[:len(s.cfg.Env):len(s.cfg.Env)],
				"ORCHESTRATOR_PROJECT_DIR="+s.cfg.Project, "ORCHESTRATOR_WORKTREE="+r.Dir),
			progress: func(string) {},
		}
		why, err := s.checked(ctx, c, logName(thread.ID(r.Execution), "check-"+name), name, &v)
		if err != nil {
			return work.Validation{}, err
		}
		if why != "" {
			failures = append(failures, name+": "+why)
		}
	}
	v.Output = strings.Join(failures, "\n\n")
	return v, nil
}

// checkMark begins the environment entry of every check of this project.
func (s *Setup) checkMark() string {
	return markName + "=check-" + accept.Short([]byte(s.cfg.Project)) + "-"
}

// endChecks ends what a killed server left running. The caller holds checking.
func endChecks(ctx context.Context, mark string) {
	process.End(context.WithoutCancel(ctx), 0, process.Kin(markedBy(mark)))
}

// StopChecks ends the checks of this project that a killed server left running; those of this server are not touched.
func (s *Setup) StopChecks(ctx context.Context) error {
	select {
	case s.checking <- struct{}{}:
		defer func() { <-s.checking }()
		endChecks(ctx, s.checkMark())
	default: // a check runs, which has ended them before it began
	}
	return nil
}

// chosen returns the names of the checks to run.
func (s *Setup) chosen(only []string) ([]string, error) {
	var names []string
	for _, name := range work.CheckNames() {
		if s.cfg.Checks[name] != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, thread.Hint(thread.Kindf(thread.ErrNotFound, "this project has no checks that are accepted and read"),
			"put a table [checks] into .orchestrator.toml, with a command for each of "+strings.Join(work.CheckNames(), ", ")+" that you have; then `orchestrator trust`, `orchestrator restart`")
	}
	if len(only) == 0 {
		return names, nil
	}
	var some []string
	for _, name := range only {
		if s.cfg.Checks[name] == "" {
			return nil, thread.Hint(thread.Kindf(thread.ErrNotFound, "this project has no check %s", name), "it has "+strings.Join(names, ", "))
		}
		some = append(some, name)
	}
	return some, nil
}

// checked runs one check, and returns why it failed, "" if it did not.
func (s *Setup) checked(ctx context.Context, c command, logName, name string, v *work.Validation) (why string, err error) {
	log, err := openLog(s.cfg.Logs, logName, keptOutput)
	if err != nil {
		return "", fmt.Errorf("open the log of the check %s: %w", name, err)
	}
	err = c.start(ctx, log)
	log.close()
	if ctx.Err() != nil {
		return "", fmt.Errorf("check %s: %w", name, errors.Join(err, ctx.Err()))
	}
	text := log.text()
	if err == nil && name == work.CheckCoverage {
		if v.Coverage = percent(text); v.Coverage == nil {
			err = errors.New("it printed no percentage")
		}
	}
	if err == nil {
		v.Set(name, work.Pass)
		return "", nil
	}
	v.Set(name, work.Fail)
	first, _, _ := strings.Cut(err.Error(), "; last output")
	text = strings.TrimSpace(text)
	if cut := len(text) - shownOutput; cut > 0 {
		text = "\u2026" + strings.ToValidUTF8(text[cut:], "")
	}
	return strings.TrimSpace(first + "\n" + plaintext.Text(text)), nil
}

var percentage = pattern.Lazy(`(\d+(?:\.\d+)?)\s?%`)

// percent returns the last percentage in a text, nil if there is none from 0 to 100.
func percent(text string) *float64 {
	found := percentage().FindAllStringSubmatch(text, -1)
	for i := len(found) - 1; i >= 0; i-- {
		if n, err := strconv.ParseFloat(found[i][1], 64); err == nil && n <= 100 {
			return &n
		}
	}
	return nil
}
