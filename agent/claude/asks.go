package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

// asks are the questions of a process that wait for a person. Claude Code asks by requests, each of which waits until it
// has its response or is withdrawn: whether a call is allowed, whether a plan is right (ExitPlanMode), and what the model
// wants to know (AskUserQuestion), which is up to four questions in one request: they are asked one after the other, and
// all answers go there together. Of several options one is chosen, or any number in the person's own words. What else it
// may ask, such as the form of an MCP server, is refused: a run has no servers but ours, which ask nothing.
type asks struct {
	run *jsonline.Run
	on  bool
	// open are the requests that wait, by the ids of the questions that are asked.
	open map[string]*asked
}

// asked is a request that waits for a person.
type asked struct {
	id      string // of the request
	call    string
	tool    string
	sub     string
	always  []permission
	input   json.RawMessage   // of AskUserQuestion
	choices []choice          // its questions
	answers map[string]string // so far
}

// choice is what the model wants to know.
type choice struct {
	Question string `json:"question"`
	Several  bool   `json:"multiSelect"`
	Options  []struct {
		Label string `json:"label"`
		More  string `json:"description"`
	} `json:"options"`
}

// The tools that ask, where others are asked about.
const (
	askTool  = "AskUserQuestion"
	planTool = "ExitPlanMode"
)

const (
	// maxAsked is how large the input of AskUserQuestion may be: it is kept until it is answered.
	maxAsked = 64 << 10
	// maxQuestions is how many questions a request may have.
	maxQuestions = 16
)

// What the model is told when the person says no and nothing else.
const (
	denied    = "The person did not allow this. Go on without it, and say at the end what could not be done."
	planOn    = "The person did not agree to this plan. Plan on."
	noAnswer  = "The person did not want to answer this. Go on without an answer."
	ownAnswer = "Something else, in your own words"
)

// ask asks a person what a request asks, for a sub-agent of that name if there is one. False: it cannot be asked.
func (a *asks) ask(id string, r request, sub string) bool {
	if !a.on || id == "" {
		return false
	}
	one := &asked{id: id, call: r.Call, tool: r.Tool, sub: sub}
	if r.Tool != askTool {
		return a.put(one, r.question(one))
	}
	var in struct {
		Questions []choice `json:"questions"`
	}
	fields(r.Input, &in)
	if len(in.Questions) == 0 || len(in.Questions) > maxQuestions || len(r.Input) > maxAsked {
		return false
	}
	one.choices, one.input, one.answers = in.Questions, slices.Clone(r.Input), map[string]string{}
	return a.next(one)
}

// question is what is asked about a call, or about a plan.
func (r request) question(one *asked) thread.Question {
	q := thread.Question{ID: one.id, Kind: thread.QuestionPermission, About: r.about()}
	yes := []thread.Choice{{Text: "Yes", Means: thread.Approve}}
	if r.Tool == planTool {
		if q.Kind, q.Text = thread.QuestionPlan, "Is this plan right?"; q.About == "" || q.About == "{}" {
			q.Text, q.About = "Is its plan right, which it does not show here?", ""
		}
		q.Choices = append(yes, thread.Choice{Text: "No, plan on", Means: thread.Deny})
	} else {
		var what string
		q.Text = wants(r.Tool)
		if one.always, what = inThisRun(r.Suggests); len(one.always) > 0 {
			yes = append(yes, thread.Choice{Text: "Yes, and in this run " + what, Means: thread.ApproveAlways})
		}
		q.Choices = append(yes, thread.Choice{Text: "No", Means: thread.Deny})
	}
	if r.Why != "" {
		q.Text += " (" + r.Why + ")"
	}
	q.Text = forSub(q.Text, one.sub)
	return q
}

// about is what a call is given, but what has no effect of its own. With a plan come the commands that are allowed with it.
func (r request) about() string {
	var harmless []string
	switch r.Tool {
	case "Bash", "PowerShell":
		harmless = []string{"description", "timeout"}
	case "Read":
		harmless = []string{"limit", "offset"}
	case planTool:
		harmless = []string{"planFilePath"}
	}
	return jsonline.About(r.Input, harmless...)
}

func forSub(text, sub string) string {
	if sub == "" {
		return text
	}
	return fmt.Sprintf("%s Its sub-agent %q asks.", text, sub)
}

// wants is what a tool wants to do, as a question.
func wants(tool string) string {
	switch tool {
	case "Bash", "PowerShell":
		return "Run this command?"
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		return "Change this file?"
	case "Read":
		return "Read this file?"
	case "WebFetch":
		return "Fetch this address?"
	}
	return fmt.Sprintf("Use the tool %s?", tool)
}

// inThisRun returns what Claude Code suggests to allow without being asked again, for as long as its process lives, and
// says what that is. Its rules are meant for a settings file of the person's: here they hold for the process. A command
// outside of the folder needs both a rule and the folder. A mode is taken where there is no rule, and only that of edits.
func inThisRun(suggested []permission) (all []permission, what string) {
	var words, places []string
	for _, p := range suggested {
		switch {
		case p.Type == "addRules" && p.Behavior == "allow":
			var rules []struct {
				Tool    string `json:"toolName"`
				Content string `json:"ruleContent"`
			}
			fields(p.Rules, &rules)
			if len(rules) == 0 {
				continue
			}
			for _, rule := range rules {
				words = append(words, strings.TrimSuffix(rule.Tool+"("+rule.Content+")", "()"))
			}
		case p.Type == "addDirectories" && p.Destination == inProcess:
			places = append(places, p.Directories...)
		default:
			continue
		}
		p.Destination = inProcess
		all = append(all, p)
	}
	if len(words) == 0 {
		for _, p := range suggested {
			if p.Type == "setMode" && p.Mode == "acceptEdits" && p.Destination == inProcess {
				all, words = append(all, p), []string{"edits"}
			}
		}
	}
	if len(words) > 0 {
		what = "all " + strings.Join(words, ", ")
	}
	if len(places) > 0 { // where it may read without being asked, from now on
		what = strings.TrimPrefix(what+", and "+strings.Join(places, ", ")+" as a working folder", ", and ")
	}
	return all, what
}

// inProcess is the destination of a permission that ends with the process.
const inProcess = "session"

// next asks the next question of a request.
func (a *asks) next(one *asked) bool {
	n := len(one.answers)
	c := one.choices[n]
	q := thread.Question{ID: one.id, Kind: thread.QuestionChoice, Text: forSub(c.Question, one.sub)}
	if n > 0 {
		q.ID = fmt.Sprintf("%s/%d", one.id, n+1)
	}
	for _, o := range c.Options[:min(len(c.Options), maxQuestions)] {
		q.Choices = append(q.Choices, thread.Choice{Text: jsonline.Option(o.Label, o.More)})
	}
	if more := len(c.Options) - maxQuestions; more > 0 {
		q.Text += fmt.Sprintf(" (%d more options are not shown)", more)
	}
	own := ownAnswer
	if c.Several {
		own = "Several of them, or " + strings.ToLower(ownAnswer[:1]) + ownAnswer[1:]
	}
	q.Choices = append(q.Choices, thread.Choice{Text: own, Means: thread.OwnWords})
	return a.put(one, q)
}

// put asks a question of a request.
func (a *asks) put(one *asked, q thread.Question) bool {
	if !a.run.Ask(one.call, q) {
		return false
	}
	a.open[q.ID] = one
	return true
}

// answer takes a person's answer. The response is written as soon as the request has all of its answers.
func (a *asks) answer(id string, choice int, text string) error {
	one := a.open[id]
	if one == nil || a.run.Interrupted() {
		return thread.Kindf(thread.ErrRefused, "the question is not open any more")
	}
	at := slices.IndexFunc(a.run.Open(), func(q thread.Question) bool { return q.ID == id })
	if at < 0 {
		return thread.Kindf(thread.ErrRefused, "the question is not open any more")
	}
	q := a.run.Open()[at]
	means := thread.Deny
	if choice >= 0 && choice < len(q.Choices) {
		means = q.Choices[choice].Means
	}
	if means == thread.OwnWords && text == "" {
		return thread.Kindf(thread.ErrInvalid, "this answer needs your words")
	}
	if err := a.run.Answer(id, choice, text); err != nil {
		return err
	}
	delete(a.open, id)
	if len(one.choices) > 0 {
		a.tell(one, q, choice, text)
		return nil
	}
	switch means {
	case thread.Approve:
		a.respond(one.id, map[string]any{"behavior": "allow"})
	case thread.ApproveAlways:
		a.respond(one.id, map[string]any{"behavior": "allow", "updatedPermissions": one.always})
	default:
		no := denied
		if one.tool == planTool {
			no = planOn
		}
		a.deny(one.id, no, text)
	}
	return nil
}

// tell notes the answer to one of the questions of the model's, and asks the next one or responds.
func (a *asks) tell(one *asked, q thread.Question, choice int, text string) {
	switch {
	case text != "":
	case choice >= 0:
		text = one.choices[len(one.answers)].Options[choice].Label // Q has them in this order
	default:
		a.deny(one.id, noAnswer, "")
		return
	}
	known := len(one.answers)
	one.answers[one.choices[known].Question] = text
	if len(one.answers) == known { // asked twice
		one.answers[fmt.Sprintf("%s (%d)", q.Text, known+1)] = text
	}
	if len(one.answers) < len(one.choices) {
		if !a.next(one) {
			a.deny(one.id, noAnswer, "")
		}
		return
	}
	input := map[string]json.RawMessage{}
	fields(one.input, &input)
	answers, err := json.Marshal(one.answers)
	if err != nil {
		panic("claude: " + err.Error()) // texts can be marshalled
	}
	input["answers"] = answers
	a.respond(one.id, map[string]any{"behavior": "allow", "updatedInput": input})
}

// deny refuses what a request asks for, with the person's words if they said any.
func (a *asks) deny(id, message, text string) {
	if text != "" {
		message = "The person did not allow this, and says: " + text
	}
	a.respond(id, map[string]any{"behavior": "deny", "message": message})
}

func (a *asks) respond(id string, response map[string]any) {
	a.run.Write(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": id, "response": response,
	}})
}

// withdraw forgets what a request or a call asks, which nobody answers any more.
func (a *asks) withdraw(request, call, why string) {
	for _, id := range slices.Sorted(maps.Keys(a.open)) {
		one := a.open[id]
		if request != "" && one.id == request || call != "" && one.call == call {
			delete(a.open, id)
			a.run.Withdraw(id, why)
		}
	}
}
