package model

import (
	"strings"

	"orchestrator/agent/scripted"
	"orchestrator/thread/pattern"
)

// denied is the beginning of a tool's result if the person denied it.
const denied = "denied by the person"

// about matches a prompt about the whole project.
var about = pattern.Lazy(`(?i)\b(?:what(?:'s| is| does)|explain|describe|summari[sz]e|overview of|look at|` +
	`tell me about)\b.*\b(?:project|repo(?:sitory)?|code ?base|folder|directory)\b`)

// next is the model's script: the step of the plan that comes after the results so far, or the answer.
func next(t scripted.Turn) scripted.Reply {
	if text, asked := summarise(t); asked {
		return scripted.Reply{Text: text}
	}
	how := manners(unquoted(t.Prompt))
	if n := len(t.Outcomes); n > 0 && strings.HasPrefix(t.Outcomes[n-1].Output, denied) && !how.together {
		return scripted.Reply{Text: refused(strings.TrimPrefix(t.Outcomes[n-1].Output, denied))}
	}
	own := givens(task(t.Prompt))
	if own.answer != "" {
		calls := calls(how.apply(literal(own.rest, t.Tools)))
		if done := len(t.Outcomes); done < len(calls) {
			return scripted.Reply{Calls: calls[done : done+1]}
		}
		return scripted.Reply{Text: own.answer}
	}
	if text, asked := mended(t); asked {
		return scripted.Reply{Text: text}
	}
	prompt := marks().ReplaceAllString(own.rest, " ")
	if reporting().MatchString(prompt) {
		return scripted.Reply{Text: progress(t)}
	}
	if tooling().MatchString(prompt) {
		return scripted.Reply{Text: toolbox(t.Tools)}
	}
	if about().MatchString(prompt) && !strings.Contains(prompt, "#do:") {
		return explore(t.Outcomes)
	}
	steps := how.apply(plan(prompt, t.Tools))
	calls := calls(steps)
	switch done := len(t.Outcomes); {
	case done >= len(calls):
		return scripted.Reply{Text: conclude(t, prompt, steps)}
	case how.together:
		return scripted.Reply{Text: announce(calls), Calls: calls[done:]}
	case done == 0:
		return scripted.Reply{Text: announce(calls), Calls: calls[:1]}
	default:
		return scripted.Reply{Calls: calls[done : done+1]}
	}
}

// calls are those of steps.
func calls(steps []step) (all []scripted.Call) {
	for _, s := range steps {
		if s.call != nil {
			all = append(all, *s.call)
		}
	}
	return all
}

// refused is what the model says to a no, and to what the person said with it.
func refused(words string) string {
	if words = strings.TrimPrefix(words, ": "); words != "" {
		return "All right, I did not do that. You said: " + words
	}
	return "All right, I did not do that. What should I do instead?"
}

// explore looks at a project: its files, then the most informative one.
func explore(seen []scripted.Outcome) scripted.Reply {
	then := func(text, name, path string) scripted.Reply {
		return scripted.Reply{Text: text, Calls: []scripted.Call{{Name: name, Args: map[string]any{"path": path}}}}
	}
	switch len(seen) {
	case 0:
		return then("I will look at the files first.", "list_files", ".")
	case 1:
		if f := telling(seen[0].Output); f != "" && !seen[0].Failed {
			return then("`"+f+"` should say what this is about.", "read_file", f)
		}
	}
	return scripted.Reply{Text: describeProject(seen)}
}
