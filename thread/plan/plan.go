package plan

import (
	"encoding/json"
	"time"

	"orchestrator/thread"
)

// Plan is a plan as people and planners write it, in TOML or JSON, with all texts that its files have. It is data: what runs
// is what a Task has copied of it.
type Plan struct {
	Name        string              `json:"name" toml:"name"` // of letters, digits, -, _; that of its file if it has none
	Description string              `json:"description,omitempty" toml:"description"`
	Variables   map[string]Variable `json:"variables,omitempty" toml:"variables"`
	Agents      []Agent             `json:"agents" toml:"agents"`
	Gates       []Gate              `json:"gates,omitempty" toml:"gates"`
	// MaxParallel is how many of its agents work at once, 0 for as many as the queue lets.
	MaxParallel int `json:"max_parallel,omitempty" toml:"max_parallel"`
	// OnUpstreamFailure holds for agents that have none of their own; FailAsk if empty.
	OnUpstreamFailure OnUpstreamFailure `json:"on_upstream_failure,omitempty" toml:"on_upstream_failure"`
	// Budget is what all of a task may spend, as in `--budget`: "2.50" in USD, "200k tokens", or both.
	Budget string `json:"budget,omitempty" toml:"budget"`
	// Stall says when an agent is taken to be stuck, and what follows.
	Stall Stall `json:"stall,omitzero" toml:"stall"`
}

// VariableType is the type of a variable.
type VariableType string

// The types of variables.
const (
	VarString  VariableType = "string"
	VarNumber  VariableType = "number"
	VarInteger VariableType = "integer"
	VarBool    VariableType = "boolean"
	VarChoice  VariableType = "choice" // one of Choices
)

// Variable is something that a plan is told for each task. One without a default has to be given.
type Variable struct {
	Type        VariableType    `json:"type,omitempty" toml:"type"` // VarString if empty
	Description string          `json:"description,omitempty" toml:"description"`
	Default     json.RawMessage `json:"default,omitempty" toml:"-"` // a JSON value of its type
	Choices     []string        `json:"choices,omitempty" toml:"choices"`
}

// OnUpstreamFailure is what becomes of an agent whose upstream hands nothing over.
type OnUpstreamFailure string

// What becomes of it.
const (
	FailStop     OnUpstreamFailure = "stop"     // it is skipped, and so is all that reads it
	FailContinue OnUpstreamFailure = "continue" // it works with what the others handed over, and is told what is missing
	FailAsk      OnUpstreamFailure = "ask"      // a person decides
)

// Agent is one agent of a plan.
type Agent struct {
	Name string `json:"name" toml:"name"` // of letters, digits, -, _; unique in the plan
	// Wave is the wave that it works in, from 1. One without a wave works in the first after all that it reads and follows; one
	// with a wave and without Reads reads all agents of earlier waves.
	Wave int `json:"wave,omitempty" toml:"wave"`
	// Reads are the agents whose deliverables it gets: it begins when all of them have handed over. With ReadsNone, none.
	Reads     []string `json:"reads,omitempty" toml:"reads"`
	ReadsNone bool     `json:"reads_none,omitempty" toml:"reads_none"`
	// After are agents that have to be done before it, of which it gets nothing.
	After []string `json:"after,omitempty" toml:"after"`

	// Agent, Model and Tier are what works, as in `run --agent --model --tier`; what is configured if empty.
	Agent string      `json:"agent,omitempty" toml:"agent"`
	Model string      `json:"model,omitempty" toml:"model"`
	Tier  thread.Tier `json:"tier,omitempty" toml:"tier"`

	// Program is what works where Agent is any program ("command"), with its arguments: it gets the prompt on its input, and
	// what it prints is its answer.
	Program []string `json:"program,omitempty" toml:"program"`
	// ProgramFiles are the files of the project that Program names, with their SHA-256, as they were accepted: who reads the plan
	// puts them here. A copy of them is what runs.
	ProgramFiles map[string]string `json:"program_files,omitempty" toml:"-"`

	// Prompt is a template, see Render. PromptFile is a file beside the plan that has it; who reads the plan puts its text into
	// Prompt.
	Prompt     string `json:"prompt,omitempty" toml:"prompt"`
	PromptFile string `json:"prompt_file,omitempty" toml:"prompt_file"`

	// Output is what it hands over, OutputJSON if empty. Schema is a JSON Schema of its output_data; SchemaFile as PromptFile.
	Output     OutputType      `json:"output,omitempty" toml:"output"`
	Schema     json.RawMessage `json:"schema,omitempty" toml:"-"`
	SchemaFile string          `json:"schema_file,omitempty" toml:"schema_file"`
	// Deliver are patterns of files that it hands over by content, relative to its folder, with ** for any folders.
	Deliver []string `json:"deliver,omitempty" toml:"deliver"`

	// Writes are patterns of the project's files that it changes, in a worktree of its own. Without, it only reads.
	Writes []string `json:"writes,omitempty" toml:"writes"`
	// Merge says what becomes of its worktree when it is done, as in `run --dispose`: keep, branch, merge, drop.
	Merge string `json:"merge,omitempty" toml:"merge"`
	// Checks says that the project's [checks] run on what it changed, and that it has failed if they fail.
	Checks bool `json:"checks,omitempty" toml:"checks"`

	Budget   string   `json:"budget,omitempty" toml:"budget"`
	Deadline Duration `json:"deadline,omitempty" toml:"deadline"`
	Calls    int      `json:"calls,omitempty" toml:"calls"` // of tools, as in `run --calls`
	// Spawn is how many runs its agent may start by itself, and SpawnDepth how deep those may go; 0 for none.
	Spawn      int `json:"spawn,omitempty" toml:"spawn"`
	SpawnDepth int `json:"spawn_depth,omitempty" toml:"spawn_depth"`

	OnUpstreamFailure OnUpstreamFailure `json:"on_upstream_failure,omitempty" toml:"on_upstream_failure"`
	// Gate, if not empty, is what a person is asked before it begins.
	Gate string `json:"gate,omitempty" toml:"gate"`
	// Needs are labels that a machine must have.
	Needs []string `json:"needs,omitempty" toml:"needs"`
}

// Gate is a question to a person between waves.
type Gate struct {
	Name string `json:"name" toml:"name"` // unique among agents and gates
	// After is the wave after which it is asked: no agent of a later wave begins before the answer.
	After int    `json:"after" toml:"after"`
	Text  string `json:"text,omitempty" toml:"text"`
}

// OutputType is the type of what an agent hands over.
type OutputType string

// The types.
const (
	OutputJSON  OutputType = "json"
	OutputDoc   OutputType = "doc"
	OutputSheet OutputType = "sheet"
	OutputImage OutputType = "image"
	OutputText  OutputType = "text"
)

// Stall says when an agent of a plan is taken to be stuck. The zero value is the usual, see Stuck; a limit of 0 is none.
type Stall struct {
	Silence *Duration `json:"silence,omitempty" toml:"silence"` // without any event
	Repeats *int      `json:"repeats,omitempty" toml:"repeats"` // of the same call with the same arguments in a row
	Tokens  *int64    `json:"tokens,omitempty" toml:"tokens"`   // of output without a changed file, for agents that write
	// Policy is what follows: StallShow, StallAsk, StallRetry or StallStop.
	Policy StallPolicy `json:"policy,omitempty" toml:"policy"`
}

// StallPolicy is what follows on a stall.
type StallPolicy string

// What follows.
const (
	StallShow  StallPolicy = "show"  // it is shown, and nothing else
	StallAsk   StallPolicy = "ask"   // a person is asked
	StallRetry StallPolicy = "retry" // it is stopped and begins once more; then it has failed
	StallStop  StallPolicy = "stop"  // it is stopped and has failed
)

// Duration is a time as people write it: "10m".
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return thread.Kindf(thread.ErrInvalid, "%q is no time: write it like 90s, 10m or 2h", thread.Excerpt(string(text)))
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Agent returns one by its name.
func (p *Plan) Agent(name string) (Agent, bool) {
	for _, a := range p.Agents {
		if a.Name == name {
			return a, true
		}
	}
	return Agent{}, false
}
