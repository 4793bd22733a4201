package demo

import (
	"context"
	"slices"

	"orchestrator/agent/demo/program"
	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

var (
	_ thread.Headless = (*Agent)(nil)
	_ thread.Asker    = (*dialogue)(nil)
	_ thread.Steerer  = (*dialogue)(nil)
)

// readOnly are the levers that a read-only start leaves out.
func readOnly() []string { return []string{"editing", "shell"} }

// Headless implements thread.Headless.
func (a *Agent) Headless(ctx context.Context, spec thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	if spec.Once.ReadOnly {
		spec.Base = slices.Compact(slices.Sorted(slices.Values(slices.Concat(spec.Base, readOnly()))))
	}
	l, err := a.Launch(ctx, spec)
	if err != nil {
		return thread.HeadlessLaunch{}, err
	}
	more := []string{"--headless", "--retries", "0"} // who starts it tries again
	if spec.Once.Asks == thread.AsksPerson {
		more = append(more, "--asks")
	}
	if spec.Once.Caps.NoTools {
		more = append(more, "--no-calls")
	}
	l.Args = slices.Insert(l.Args, slices.Index(l.Args, Verb)+1, more...)
	return thread.HeadlessLaunch{Launch: l, Dialogue: &dialogue{}}, nil
}

// dialogue speaks the protocol of package program.
type dialogue struct {
	run   jsonline.Run
	model string
	begun bool
}

// Begin implements thread.Dialogue. The input stays open for an interruption.
func (d *dialogue) Begin(prompt string) thread.Said {
	d.begun = true
	d.run.Write(program.Order{Type: program.OrderPrompt, Text: prompt})
	return d.run.Take()
}

// Answer implements thread.Asker.
func (d *dialogue) Answer(question string, choice int, text string) (thread.Said, error) {
	if err := d.run.Answer(question, choice, text); err != nil {
		return thread.Said{}, err
	}
	d.run.Write(program.Order{Type: program.OrderAnswer, Question: question, Choice: choice, Text: text})
	return d.run.Take(), nil
}

// Steer implements thread.Steerer. The program says when it has taken the prompt, with the next request to the model.
func (d *dialogue) Steer(prompt string) (thread.Said, error) {
	if !d.begun || d.run.Ended() || d.run.Interrupted() {
		return thread.Said{}, thread.ErrBusy
	}
	d.run.Write(program.Order{Type: program.OrderSteer, Text: prompt})
	return d.run.Take(), nil
}

// Interrupt implements thread.Dialogue.
func (d *dialogue) Interrupt() thread.Said {
	d.run.Interrupt()
	if !d.run.Ended() {
		d.run.Write(program.Order{Type: program.OrderInterrupt})
	}
	return d.run.Take()
}

// Read implements thread.Dialogue.
func (d *dialogue) Read(line []byte) thread.Said {
	return jsonline.Read(&d.run, line, d.report)
}

// report says what a line reports, unless its type is unknown.
func (d *dialogue) report(r program.Report) (known bool) {
	e := thread.RunEvent{Text: r.Text, Call: r.Call, Tool: r.Tool, Failed: r.Failed, Reads: r.Reads}
	switch r.Type {
	case program.ReportSession:
		d.model = r.Model
		d.run.Session(r.Session, r.Model)
		return true
	case program.ReportUsage:
		if u := r.Usage; u != nil {
			d.run.Usage(thread.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output}, d.model, "")
		}
		return true
	case program.ReportEnd:
		d.end(r)
		return true
	case program.ReportAsks, program.ReportWithdrawn:
		return d.asks(r)
	case program.ReportSteered:
		e.Kind = thread.RunSteered
	case program.ReportText:
		e.Kind = thread.RunText
	case program.ReportTool:
		e.Kind = thread.RunTool
	case program.ReportResult:
		e.Kind = thread.RunResult
	case program.ReportRefused:
		e.Kind = thread.RunRefused
	case program.ReportNotice:
		e.Kind = thread.RunNotice
	default:
		return false
	}
	d.run.Add(e)
	return true
}

// asks says what a question or its withdrawal reports, unless it has none.
func (d *dialogue) asks(r program.Report) bool {
	q := r.Question
	if q == nil {
		return false
	}
	if r.Type == program.ReportWithdrawn {
		if !d.run.Withdraw(q.ID, r.Text) {
			d.run.Notice("an answer came too late: %s", r.Text)
		}
		return true
	}
	asked := thread.Question{ID: q.ID, Kind: thread.QuestionKind(q.Kind), Text: q.Text, About: q.About}
	for _, c := range q.Choices {
		asked.Choices = append(asked.Choices, thread.Choice{Text: c.Text, Means: thread.Meaning(c.Means)})
	}
	if !d.run.Ask(r.Call, asked) && !d.run.Ended() {
		d.run.Add(thread.RunEvent{Kind: thread.RunRefused, Call: r.Call, Text: q.Text + " " + q.About})
		d.run.Write(program.Order{Type: program.OrderAnswer, Question: q.ID, Choice: thread.Dismiss})
	}
	return true
}

// end says how the run ended, by the program's own words.
func (d *dialogue) end(r program.Report) {
	switch r.Outcome {
	case program.OutcomeCompleted:
		d.run.Complete()
	case program.OutcomeInterrupted:
		d.run.Cancel()
	default:
		d.run.Fail(r.Text, r.Status)
	}
	d.run.Close()
}

// End implements thread.Dialogue.
func (d *dialogue) End(code int) thread.Said {
	d.run.Gone("its program ended with code %d before it had answered", code)
	return d.run.Take()
}
